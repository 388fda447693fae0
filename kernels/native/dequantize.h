// Codes back to float32: y = f32(q - z) * s, one rounding (DequantizeLinear with one scale).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/dtype.h"

namespace assay::kernels {

struct CodeParams {
  DType dtype;  ///< uint8, int8 or int32
  float scale;
  std::int32_t zero_point;
};

void dequantize_codes(const CodeParams& params, const std::byte* codes, std::int64_t count,
                      float* out);

}  // namespace assay::kernels
