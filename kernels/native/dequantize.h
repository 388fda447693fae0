// Codes back to float32: y = f32(q - z) * s, one rounding (DequantizeLinear with one scale).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace assay::kernels {

struct CodeParams {
  DType dtype;  ///< uint8, int8 or int32
  float scale;
  std::int32_t zero_point;
};

/// Why a quantizer's scale and zero point are not one constant each; nullopt when they are.
std::optional<Decline> refuse_grid(const KernelRequest& request);

void dequantize_codes(const CodeParams& params, const std::byte* codes, std::int64_t count,
                      float* out);

}  // namespace assay::kernels
