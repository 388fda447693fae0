// The first value of an array that is not a number or not finite.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace assay {

/// Its index; nullopt when all are finite. Looks at blocks of constant length, which become vector
/// code, and searches only the block that has one.
template <class T>
std::optional<std::size_t> first_not_finite(std::span<const T> values) {
  constexpr std::size_t block = 64;
  std::size_t i = 0;
  for (; i + block <= values.size(); i += block) {
    int odd = 0;
    for (std::size_t k = 0; k < block; ++k)
      odd += std::abs(values[i + k]) <= std::numeric_limits<T>::max() ? 0 : 1;
    if (odd != 0) break;
  }
  for (; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return i;
  }
  return std::nullopt;
}

}  // namespace assay
