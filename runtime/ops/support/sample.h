// Sampling an image between its places (RoiAlign, GridSample): taps of one position, and their
// weighted sum.
#pragma once

#include <type_traits>
#include <vector>

#include "runtime/ops/support/scalar.h"

namespace assay::ops {

/// One place of the image (offset in elements) and its weight, in double.
struct ImageTap {
  std::int64_t offset = 0;
  double weight = 0.0;
};

/// What values are summed in: double, or dd for dd.
template <class T>
using SampleSum = std::conditional_t<std::is_same_v<T, dd>, dd, double>;

template <class T>
SampleSum<T> weighted_sum(const T* image, const std::vector<ImageTap>& taps) {
  SampleSum<T> sum(0.0);
  for (const ImageTap& t : taps) sum = sum + static_cast<SampleSum<T>>(image[t.offset]) * t.weight;
  return sum;
}

/// The sum in the type of the result, rounded once.
template <class T>
T from_sum(const SampleSum<T>& v) {
  return static_cast<T>(canonical(v));
}

}  // namespace assay::ops
