#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/elementary_core.h"

// Sums in lanes, the shared part of rows_*.cpp. Internal.
//
// The canonical order: element i belongs to lane i mod 8; a lane adds its elements in order; the
// lanes are added as ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)). Any instruction set can
// follow it with one vector of 8 or two of 4 lanes, so the bits do not depend on it.

namespace assay::rows {

inline constexpr std::size_t kLanes = 8;
inline constexpr double kUnit = 0x1p-53;

template <class T>
T join(const std::array<T, kLanes>& lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// Additions that one element passes through in a lane sum of n terms: the factor of u in the error
// bound n u sum|terms| (Higham's bound for any order, with the depth in place of n).
inline double depth(std::size_t n) { return static_cast<double>(n / kLanes) + 4; }

// Sum of term(i) in double, in lanes.
template <class Term>
double lane_sum(std::size_t n, Term term) {
  std::array<double, kLanes> lane{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += term(i + j);
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += term(i + j);
  return join(lane);
}

}  // namespace assay::rows
