// Two results of a region side by side, element by element against a bound.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace assay {

/// |a - b| and where it is largest, against a bound per element.
struct Difference {
  double max_abs = 0;
  double max_ulp = 0;          ///< largest |a - b| in units in the last place of a
  double usage = 0;            ///< largest |a - b| / bound
  std::int64_t at = -1;        ///< of the largest usage
  std::int64_t nonfinite = 0;  ///< pairs in which exactly one side is finite

  void merge(const Difference& o);
};

/// `bound` holds one number per element.
Difference difference(const Tensor& a, const Tensor& b, const std::vector<double>& bound);
/// The sum per element of several bounds, made safe against its own roundings.
std::vector<double> sum_of(const std::vector<std::vector<double>>& parts);
/// |a - b| per element.
std::vector<double> gap(const Tensor& a, const Tensor& b);

/// Euclidean length of a - b over that of b, of float32 tensors of one shape; infinite when one
/// side is not finite.
double relative_distance(const Tensor& a, const Tensor& b);

}  // namespace assay
