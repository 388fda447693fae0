#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/half.h"
#include "runtime/numeric/proved.h"

// Ziv's rounding test: does every real number within `error` of y round to the same number?
//
// Rounding is monotone, so it is enough to round the two ends of the interval. The ends are
// computed in double, whose own rounding is covered by widening the interval by 1.004 * 2^-53 |y|
// and 2^-51 error (a double operation errs by at most 2^-53 of its result, here at most |y| +
// error and a little, and a result in the subnormal range is exact).
// Overflow and subnormal results need no care: they are part of the monotone rounding. A NaN or
// infinite error never passes.

namespace assay {

// Narrows to float, Half or BFloat16 with one rounding, to nearest even.
template <class Out>
Out narrow(double value) {
  if constexpr (std::is_same_v<Out, double>) {
    return value;
  } else {
    return static_cast<Out>(value);
  }
}

template <class Out>
bool same_bits(Out a, Out b) {
  if constexpr (std::is_same_v<Out, float>) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  } else if constexpr (std::is_same_v<Out, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  } else {
    return a.bits == b.bits;
  }
}

// The common rounding of all values in [y - error, y + error], or nothing. A NaN y gives nothing.
// When the interval holds values of both signs the result is nothing, because the sign of a zero is
// not decided.
template <class Out>
std::optional<Out> round_if_certain(double y, ProvedRadius error) {
  const double wide = error.value * (1 + 0x1p-51) + std::fabs(y) * 0x1.01p-53;
  const double low = y - wide;
  const double high = y + wide;
  if (!(wide < std::numeric_limits<double>::infinity()) || std::isnan(y)) return std::nullopt;
  const Out rounded = narrow<Out>(low);
  if (!same_bits(rounded, narrow<Out>(high))) return std::nullopt;
  return rounded;
}

// The same for a double result from a double-double: |exact - y| <= error. The test needs error to
// be below the spacing of doubles near y; a larger error gives nothing unless both ends agree.
inline std::optional<double> round_if_certain(const dd& y, ProvedRadius error) {
  // A double added to a dd errs by at most 2^-105 of the sum, covered by the widening.
  const double wide = error.value * (1 + 0x1p-51) + std::fabs(dd_hi(y)) * 0x1p-104;
  if (!(wide < std::numeric_limits<double>::infinity())) return std::nullopt;
  const double low = dd_hi(y - wide);
  const double high = dd_hi(y + wide);
  if (!same_bits(low, high)) return std::nullopt;
  return low;
}

// A real number as its nearest double and the sign of the rest (exact - value), 0 when the double
// is exact. This is all that one rounding to any format of at most 51 bits, or to double, needs.
struct Tailed {
  double value;
  int tail = 0;
};

// Rounds to odd: of the two doubles around the number the one with an odd mantissa. A later
// rounding to nearest of at most 51 bits then equals the direct rounding.
inline double round_to_odd(const Tailed& number) {
  if (number.tail == 0 || !std::isfinite(number.value)) return number.value;
  const auto bits = std::bit_cast<std::uint64_t>(number.value);
  if ((bits << 1) == 0) return number.tail > 0 ? 0x1p-1074 : -0x1p-1074;
  if ((bits & 1U) != 0) return number.value;
  const bool outward = (number.tail > 0) == !std::signbit(number.value);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

// One rounding of the tailed number.
template <class Out>
Out round_tailed(const Tailed& number) {
  if constexpr (std::is_same_v<Out, double>) {
    return number.value;
  } else {
    return narrow<Out>(round_to_odd(number));
  }
}

}  // namespace assay
