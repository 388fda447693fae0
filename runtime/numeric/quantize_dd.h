// Rounding of exactly known real values to codes, through double-double.
//
// The values are rationals a * s / t of integers below 2^53, products of two float32 scales and one
// float32 divisor: a double-double quotient is within 2^-98 of them, and a value that is not a
// half-integer lies at least 2^-85 (relative) from one (its numerator and denominator have fewer
// than 85 bits in excess of the integer's own). So nearer than 2^-90 means a tie.
#pragma once

#include "runtime/numeric/dd.h"
#include "runtime/numeric/quantize.h"

namespace assay {

/// To nearest, halves to even. |v| < 2^62.
inline std::int64_t round_half_even(const dd& v) {
  const double floor = std::floor(dd_hi(v));
  const auto whole = static_cast<std::int64_t>(floor);
  const double beyond = dd_hi(v - dd(floor) - dd(0.5));
  const double slack = std::ldexp(std::max(1.0, std::abs(dd_hi(v))), -90);
  if (std::abs(beyond) <= slack) return whole + (whole & 1);
  return beyond > 0 ? whole + 1
                    : whole;  // a low word below zero moves v by far less than half a step
}

/// clamp(rhe(v) + zero_point).
inline std::int64_t code_of(const dd& v, std::int64_t zero_point, CodeRange range) {
  if (dd_hi(v) <= static_cast<double>(range.lo - zero_point - 1)) return range.lo;
  if (dd_hi(v) >= static_cast<double>(range.hi - zero_point + 1)) return range.hi;
  return std::clamp(round_half_even(v) + zero_point, range.lo, range.hi);
}

}  // namespace assay
