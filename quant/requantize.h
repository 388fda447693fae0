// Requantization of an integer accumulator, for the profiles whose bias is added as an integer.
//
//   exact        q = clamp(rhe(acc * x_scale * w_scale / y_scale + z))               real
//   arithmetic, one rounding fused32      q = rhe(clamp(f32(f32(acc) * M), lo - z, hi - z)) + z M =
//   f32(f32(x_scale * w_scale) / y_scale) multiplier   M = x_scale * w_scale / y_scale as m * 2^(e
//   - bits), m of `bits` bits, then
//                31 bits, two stages: high = (acc * m * 2 + half) >> 32 (ties up), then >> with
//                ties away from zero 31 bits, one stage:  (acc * m + half) >> shift (ties up) 16
//                bits:             as one stage with m rounded to 15 bits below saturation 8 bits:
//                as one stage with m in [128, 255]
// Each in the tie rules that the profile lists. 64-bit intermediates; left shifts saturate to int32
// and are counted.
#pragma once

#include "quant/integer_form.h"

namespace assay {

/// M as an integer and a power of two: M ~ multiplier * 2^(exponent - bits).
struct Multiplier {
  std::int64_t multiplier = 0;
  int exponent = 0;
};
/// Renormalized when rounding reaches 2^bits. `m` must be positive and finite.
Multiplier make_multiplier(double m, int bits, Derivation derivation);

/// v / 2^shift with a tie rule; shift in [0, 62].
std::int64_t shift_right(std::int64_t v, int shift, Tie tie);

class Requantizer {
 public:
  /// For output channel `channel`. Throws Error when the profile has no integer bias.
  Requantizer(const IntegerForm& form, std::int64_t channel);
  /// Accumulator (bias included) to code, without activation.
  std::int64_t code(std::int64_t acc) const;
  /// rhe(bias / (x_scale * w_scale)), the bias in accumulator units.
  std::int64_t integer_bias(float bias) const;
  /// Distance of the real value from a tie, in steps.
  double distance_from_tie(std::int64_t acc) const;

 private:
  std::int64_t by_multiplier(std::int64_t acc) const;
  std::int64_t exactly(std::int64_t acc) const;
  const NumericProfile& profile_;
  QuantParams y_;
  double input_scale_;  // x_scale * w_scale, exact
  double factor_;       // input_scale / y_scale
  float factor32_;
  Multiplier multiplier_;
};

}  // namespace assay
