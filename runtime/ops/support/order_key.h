// Elements as keys that order and compare like the numbers, so that sorting is compiled once for
// all types (TopK, Unique).
//
// -0 and +0 are equal; NaN is equal to itself and larger than everything.
#pragma once

#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/tensor.h"

namespace assay::ops {

struct OrderKey {
  std::int64_t high = 0;
  std::int64_t low = 0;
  auto operator<=>(const OrderKey&) const = default;
};

/// The bits of a double as an integer of the same order.
inline std::int64_t ordered_bits(double v) {
  if (std::isnan(v)) return std::numeric_limits<std::int64_t>::max();
  if (v == 0.0) return 0;
  const auto bits = std::bit_cast<std::int64_t>(v);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

template <class T>
OrderKey order_key(const T& v) {
  if constexpr (std::is_same_v<T, dd>) {
    return {ordered_bits(dd_hi(v)), ordered_bits(dd_lo(v))};
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return {static_cast<std::int64_t>(v ^ (std::uint64_t{1} << 63)), 0};
  } else if constexpr (std::is_integral_v<T>) {
    return {static_cast<std::int64_t>(v), 0};
  } else {
    return {ordered_bits(static_cast<double>(v)), 0};
  }
}

inline std::vector<OrderKey> order_keys(const Tensor& t) {
  std::vector<OrderKey> keys;
  keys.reserve(static_cast<std::size_t>(t.numel()));
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T& v : t.data<T>()) keys.push_back(order_key(v));
  });
  return keys;
}

}  // namespace assay::ops
