#include "quant/requantize.h"

#include <limits>

#include "runtime/numeric/quantize_dd.h"

namespace assay {
namespace {

constexpr CodeRange int32_codes{std::numeric_limits<std::int32_t>::min(),
                                std::numeric_limits<std::int32_t>::max()};

/// Two stages as in gemmlowp: (a * m * 2^-31) with ties up, saturated for the one product that
/// overflows.
std::int64_t high_product(std::int64_t a, std::int64_t m) {
  return shift_right(a * m, 31, Tie::up);
}

}  // namespace

std::int64_t shift_right(std::int64_t v, int shift, Tie tie) {
  if (shift == 0) return v;
  const std::int64_t floor = v >> shift;
  const std::int64_t rest = v - (floor << shift);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  if (rest != half) return floor + (rest > half ? 1 : 0);
  switch (tie) {
    case Tie::even:
      return floor + (floor & 1);
    case Tie::up:
      return floor + 1;
    case Tie::down:
      return floor;
    case Tie::away:
      return v < 0 ? floor : floor + 1;
    case Tie::to_zero:
      return v < 0 ? floor + 1 : floor;
  }
  return floor;
}

Multiplier make_multiplier(double m, int bits, Derivation derivation) {
  ASSAY_ASSERT(std::isfinite(m) && m > 0);
  int exponent = 0;
  const double fraction = std::frexp(m, &exponent);
  const double scaled = std::ldexp(fraction, bits);
  const auto q = static_cast<std::int64_t>(
      derivation == Derivation::nearest ? std::floor(scaled + 0.5) : std::floor(scaled));
  if (q == std::int64_t{1} << bits) return {q / 2, exponent + 1};
  return {q, exponent};
}

Requantizer::Requantizer(const IntegerForm& form, std::int64_t channel)
    : profile_(form.profile),
      y_(form.y),
      input_scale_(static_cast<double>(form.x.scale) * static_cast<double>(form.w_scale(channel))),
      factor_(input_scale_ / static_cast<double>(form.y.scale)),
      factor32_(form.x.scale * form.w_scale(channel) / form.y.scale) {
  if (profile_.bias != BiasDomain::int32_in_accumulator)
    undefined_in_profile(profile_, "an integer bias");
  if (profile_.scale == ScaleForm::multiplier) {
    multiplier_ =
        make_multiplier(factor_, profile_.multiplier_bits == 16 ? 31 : profile_.multiplier_bits,
                        profile_.derivation);
    if (profile_.multiplier_bits == 16) {
      const std::int64_t m = multiplier_.multiplier;
      multiplier_.multiplier = m < 0x7FFF0000 ? (m + (1 << 15)) >> 16 : 0x7FFF;
    }
  }
}

std::int64_t Requantizer::integer_bias(float bias) const {
  return quantize_value(bias, input_scale_, 0, int32_codes);
}

std::int64_t Requantizer::exactly(std::int64_t acc) const {
  // |acc| < 2^53 and the scale product have 53 and 48 bits: their product is exact in
  // double-double.
  const dd value =
      dd(static_cast<double>(acc)) * dd(input_scale_) / dd(static_cast<double>(y_.scale));
  if (!profile_.zero_point_before_rounding) return code_of(value, y_.zero_point, y_.range());
  return code_of(value + dd(static_cast<double>(y_.zero_point)), 0, y_.range());
}

std::int64_t Requantizer::by_multiplier(std::int64_t acc) const {
  const auto& stages = profile_.rounding;
  const int bits = profile_.multiplier_bits == 16 ? 15 : profile_.multiplier_bits;
  if (stages.size() == 2) {
    const int left = std::max(multiplier_.exponent, 0), right = std::max(-multiplier_.exponent, 0);
    const std::int64_t shifted =
        std::clamp(acc << std::min(left, 30), int32_codes.lo, int32_codes.hi);
    return shift_right(high_product(shifted, multiplier_.multiplier), std::min(right, 62),
                       stages[1].tie);
  }
  const int shift = bits - multiplier_.exponent;
  if (shift <= 0) return (acc * multiplier_.multiplier) << std::min(-shift, 16);
  if (shift > 62) return 0;
  return shift_right(acc * multiplier_.multiplier, shift, stages.at(0).tie);
}

std::int64_t Requantizer::code(std::int64_t acc) const {
  const CodeRange range = y_.range();
  switch (profile_.scale) {
    case ScaleForm::exact:
      return std::clamp(exactly(acc), range.lo, range.hi);
    case ScaleForm::multiplier:
      return std::clamp(by_multiplier(acc) + y_.zero_point, range.lo, range.hi);
    case ScaleForm::fused32:
      return code_of(static_cast<double>(static_cast<float>(acc) * factor32_), y_.zero_point,
                     range);
    default:
      undefined_in_profile(profile_, "requantization of an integer sum");
  }
}

double Requantizer::distance_from_tie(std::int64_t acc) const {
  return tie_distance(static_cast<double>(acc) * factor_);
}

}  // namespace assay
