// Numeric profiles: the arithmetic of an INT8 kernel as data.
//
// A profile says everything that decides a bit: how products are accumulated, where the bias is
// added, in which form the scales are applied, every rounding with its tie rule, and on which side
// of the rounding the zero point is added. Profiles are JSON (quant/profiles/*.json ship with the
// program; others are read from files) and are hashed into every golden.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/numeric/quantize.h"

namespace assay {

/// What an accumulator does with a sum that leaves its width.
enum class OverflowAction { trap, wrap, saturate_each, saturate_end };
/// Whether products are added exactly or in neighbouring pairs that saturate to 16 bits.
enum class PairModel { none, s16pair };
/// How int8 sources are fed to an unsigned-times-signed dot product.
enum class S8Form {
  plain,    ///< no transformation shows
  halved,   ///< weights rne(w / 2), scale doubled; source + 128
  plus128,  ///< source + 128, weights as they are
};
enum class Compensation { s32, f32 };
enum class BiasDomain {
  float32_after_scale,   ///< x * scale + bias
  int32_in_accumulator,  ///< rhe(bias / (x_scale * w_scale)) added to the accumulator
};
enum class ScaleForm {
  dequantized,  ///< operands are dequantized to float32 and the float operator is exact
  float32,      ///< f32(acc) * f32(x_scale * w_scale), output step by `division`
  fused32,      ///< f32(acc) * f32(f32(x_scale * w_scale) / y_scale)
  exact,        ///< the real product acc * x_scale * w_scale / y_scale
  multiplier,   ///< integer multiplier of `multiplier_bits` bits and a shift
};
enum class Derivation { nearest, truncate };
enum class Tie { even, away, up, down, to_zero };
/// How a residual is added to a convolution: accumulated in place, or as an unscaled operand.
enum class ResidualForm { sum, binary };
/// A quantization kept between Conv and Add.
enum class MidForm {
  quantize_dequantize,       ///< QuantizeLinear and DequantizeLinear
  linear_round_clip_linear,  ///< fma(x, 1/s, z), rne, clip, fma(q, s, -z s), all float32
};

struct RoundingStage {
  std::string stage;
  Tie tie = Tie::even;
};

/// See the enumerations; quant/profiles/README.md describes the JSON.
struct NumericProfile {
  std::string name;
  std::string title;
  std::string source;
  int accumulator_bits = 32;
  OverflowAction overflow = OverflowAction::trap;
  PairModel pairs = PairModel::none;
  S8Form s8 = S8Form::plain;
  Compensation compensation = Compensation::s32;
  BiasDomain bias = BiasDomain::float32_after_scale;
  ScaleForm scale = ScaleForm::dequantized;
  int multiplier_bits = 0;
  Derivation derivation = Derivation::nearest;
  Quotient division = Quotient::exact;
  std::vector<RoundingStage> rounding = {};
  bool zero_point_before_rounding = false;
  ResidualForm residual = ResidualForm::binary;
  MidForm mid = MidForm::quantize_dequantize;
  bool fma = true;   ///< sums with a scale are fused multiply-adds
  std::string json;  ///< canonical text: sorted keys, no spaces
  std::string hash;  ///< sha256 of `json`, hexadecimal
};

/// Reads a profile. Throws Error naming `where` and the key for anything unknown or missing.
NumericProfile parse_profile(std::string_view text, const std::string& where);

/// A profile that ships with the program. Throws Error listing the known names.
const NumericProfile& find_profile(const std::string& name);
std::vector<std::string> profile_names();


}  // namespace assay
