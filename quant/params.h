// From a range to a scale and a zero point.
//
//   u8 (asymmetric)  scale = f32((high - low) / 255)       zero point = clamp(rhe(-low / scale), 0,
//   255) s8 (symmetric)   scale = f32(max(-low, high) / 127)    zero point = 0, codes -128..127
//   mixed            u8 where nothing is negative (zero point 0), else s8
//   weights          scale = f32(max|w| / 127)             zero point = 0, codes -127..127
// The range is widened to contain 0 first, because padding and ReLU need an exact zero.
#pragma once

#include <optional>
#include <string>

#include "runtime/numeric/quantize.h"

namespace assay {

/// How activations are quantized, per tensor.
enum class ActivationScheme { u8, s8, mixed };
std::string to_string(ActivationScheme s);
std::optional<ActivationScheme> parse_scheme(const std::string& name);
/// "u8, s8, mixed"
std::string scheme_names();

struct Range {
  float low = 0;
  float high = 0;
};

/// One affine quantizer of a whole tensor.
struct QuantParams {
  DType dtype = DType::uint8;
  float scale = 1;
  std::int64_t zero_point = 0;

  bool operator==(const QuantParams&) const = default;
  CodeRange range() const { return code_range(dtype); }
};

/// An all-zero range gives scale 1 and zero point 0. The scale is always positive, finite and
/// normal.
QuantParams activation_params(Range range, ActivationScheme scheme);

/// Scale of symmetric int8 weights with this largest magnitude; 0 when none exists (all zero, or so
/// small that the scale would not be a normal float32): such a channel is dead.
float weight_scale(float max_abs);

}  // namespace assay
