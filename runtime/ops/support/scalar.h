// Scalar conventions shared by the operators: the type a value is computed in, how it is stored,
// NaN and zero rules.
//
// float16 and bfloat16 values are computed in double and rounded once: sums, products, quotients
// and square roots of two such values are far from every rounding boundary of the narrow type
// unless they are exact in double. A NaN made by arithmetic is stored with the bits 0x7FC00000
// (float64: 0x7FF8000000000000); copies keep their bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/dtype.h"

namespace assay::ops {

template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_real =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, dd>;

/// The type that a stored T is computed in.
template <class T>
using Wide = std::conditional_t<is_narrow<T>, double, T>;

template <class T>
Wide<T> load(const T& v) {
  return static_cast<Wide<T>>(v);
}

template <class T>
bool not_a_number(const T& v) {
  if constexpr (std::is_same_v<T, dd>) {
    return std::isnan(dd_hi(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    return v != v;
  } else {
    return false;
  }
}

inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(0x7FC00000U); }
inline double canonical(double v) {
  return v == v ? v : std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
}
inline dd canonical(const dd& v) { return std::isnan(dd_hi(v)) ? dd(canonical(dd_hi(v)), 0.0) : v; }

/// Stores the result of arithmetic: one rounding for the narrow types, the canonical NaN for
/// floats.
template <class T>
T store(const Wide<T>& v) {
  if constexpr (is_narrow<T>) {
    return T(canonical(v));
  } else if constexpr (is_real<T>) {
    return canonical(v);
  } else {
    return v;
  }
}

/// sign bit of a real, -0 included.
inline bool negative_bit(float v) { return std::signbit(v); }
inline bool negative_bit(double v) { return std::signbit(v); }
inline bool negative_bit(const dd& v) { return std::signbit(dd_hi(v)); }

template <class T>
T infinity() {
  if constexpr (std::is_same_v<T, dd>) {
    return dd(std::numeric_limits<double>::infinity(), 0.0);
  } else {
    return std::numeric_limits<T>::infinity();
  }
}

}  // namespace assay::ops
