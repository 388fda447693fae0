// Scalar primitives of affine quantization, shared by the ONNX operators and by the integer
// reference.
//
//   code = clamp(rhe(x / scale) + zero_point, lo, hi)      value = (code - zero_point) * scale
//
// rhe rounds to nearest, halves to even. None of these functions depends on the rounding mode of
// the thread beyond one correctly rounded division, and none converts a float that is out of range.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/dtype.h"

namespace assay {

/// Smallest and largest code of an integer type (or of a part of it).
struct CodeRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

/// Range of uint8, int8, uint16, int16, int32. Throws Error (unsupported) for other types.
CodeRange code_range(DType t);

/// To nearest, halves to even, in integer steps: the thread's rounding mode plays no part.
/// Requires |v| < 2^62. v - trunc(v) is exact, because both share v's exponent range.
inline std::int64_t round_half_even(double v) {
  const auto whole = static_cast<std::int64_t>(v);
  const double rest = v - static_cast<double>(whole);
  const bool odd = (whole & 1) != 0;
  if (rest > 0.5 || (rest == 0.5 && odd)) return whole + 1;
  if (rest < -0.5 || (rest == -0.5 && odd)) return whole - 1;
  return whole;
}

/// How x / scale is formed before rounding.
enum class Quotient {
  exact,       ///< of the real quotient
  float32,     ///< of the quotient rounded to float32
  reciprocal,  ///< of float32(x * float32(1 / scale))
};

/// The value that is rounded to a code, without the zero point.
///
/// `exact` returns the double quotient, which rounds to the same integer as the real one when x and
/// scale have at most 24 significant bits each (x may also be an int32): with x = X 2^a, s = S 2^b
/// a quotient q that is not a half-integer t lies at least |q| 2^-33 from it (|2X 2^(a-b) - 2tS| is
/// a positive multiple of min(1, 2^(a-b))), far more than the 2^-53 |q| of the division, t is
/// itself a double, and rounding is monotone. So the double quotient never reaches or passes a tie.
inline double quotient(double x, double scale, Quotient how) {
  switch (how) {
    case Quotient::exact:
      return x / scale;
    case Quotient::float32:
      return static_cast<double>(static_cast<float>(x) / static_cast<float>(scale));
    case Quotient::reciprocal:
      return static_cast<double>(static_cast<float>(x) * (1.0F / static_cast<float>(scale)));
  }
  return 0;
}

/// clamp(rhe(v) + zero_point): clamped as a float first, so that infinities and huge values are
/// ordinary. NaN gives the zero point, the documented code.
inline std::int64_t code_of(double v, std::int64_t zero_point, CodeRange range) {
  if (std::isnan(v)) return zero_point;
  const auto low = static_cast<double>(range.lo - zero_point - 1);
  const auto high = static_cast<double>(range.hi - zero_point + 1);
  const std::int64_t rounded = round_half_even(std::clamp(v, low, high));
  return std::clamp(rounded + zero_point, range.lo, range.hi);
}

/// code_of for ranges within +-2^20, in float64 and without branches, for loops that are to become
/// vector code: adding and subtracting 1.5 * 2^52 rounds to an integer, halves to even, under the
/// rounding mode that parallel_for asserts.
class SmallCodes {
 public:
  SmallCodes(std::int64_t zero_point, CodeRange range)
      : zero_(static_cast<double>(zero_point)),
        low_(static_cast<double>(range.lo)),
        high_(static_cast<double>(range.hi)) {}
  /// NaN gives the zero point.
  std::int32_t operator()(double v) const {
    const double known = v == v ? v : 0.0;
    const double kept = std::min(std::max(known, low_ - zero_ - 1), high_ - zero_ + 1);
    const double whole = (kept + 0x1.8p52) - 0x1.8p52;
    return static_cast<std::int32_t>(std::min(std::max(whole + zero_, low_), high_));
  }

 private:
  double zero_, low_, high_;
};

/// One value to its code; `scale` must be positive and finite.
inline std::int64_t quantize_value(double x, double scale, std::int64_t zero_point, CodeRange range,
                                   Quotient how = Quotient::exact) {
  return code_of(quotient(x, scale, how), zero_point, range);
}

/// a * b rounded to odd: exact, or the neighbouring double whose last bit is 1. A second rounding
/// to at most 51 bits then equals one rounding of the exact product. No underflow may occur.
inline double product_to_odd(double a, double b) {
  const double p = a * b;
  if (!std::isfinite(p)) return p;
  const double rest = std::fma(a, b, -p);
  if (rest == 0 || (std::bit_cast<std::uint64_t>(p) & 1) != 0) return p;
  return std::nextafter(p, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// (code - zero_point) * scale rounded once to float32; code and zero point may be any int32.
inline float dequantize_value(std::int64_t code, std::int64_t zero_point, float scale) {
  return static_cast<float>(
      product_to_odd(static_cast<double>(code - zero_point), static_cast<double>(scale)));
}

/// How far v is from the nearest half-integer, in steps of the code.
inline double tie_distance(double v) { return std::abs(v - std::floor(v) - 0.5); }

/// Below this distance two sound float32 kernels may choose different codes.
inline constexpr double near_tie = 0x1p-20;

}  // namespace assay
