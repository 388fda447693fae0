// Rounding radii of elementwise operators and of selections.
//
// y computed = fl(f(x computed)); with |f(a) - f(b)| <= L |a - b| and at most n roundings of
// relative size u after f,
//   |y computed - f(x exact)| <= L * r_x + n * u * |y computed| * (1 + n u) + n * tiny.
// Everything is computed with non-negative terms in double and widened by 2^-48, which covers the
// few roundings of the bound itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/op.h"

namespace assay::ops {

/// A bound computed in double from non-negative terms, made safe against its own roundings.
inline double outward(double v) { return v * (1.0 + 0x1p-48); }

/// Radius of input `i` at element `k`; 0 where the input is exact.
class Radius {
 public:
  Radius(const BoundContext& c, std::size_t i)
      : data_(i < c.radii.size() && c.radii[i].defined() ? c.radii[i].data<double>().data()
                                                         : nullptr) {}
  bool exact() const { return data_ == nullptr; }
  double operator[](std::int64_t k) const { return data_ == nullptr ? 0.0 : data_[k]; }

 private:
  const double* data_;
};

/// Fills result[i] with a zeroed tensor like outputs[i] and returns its elements.
std::span<double> new_radius(BoundContext& c, std::size_t i = 0);

/// Output 0 = f(input 0), elementwise: Lipschitz constant and roundings of f.
void bound_lipschitz(BoundContext& c, double lipschitz, double roundings);

/// Output 0 = max, min or another choice among the inputs (elementwise, broadcast): the largest
/// radius among them.
void bound_selection(BoundContext& c);

/// Additions that one element of a row of n passes through: in the lanes of row_sum (rows.h), or in
/// any order.
inline std::int64_t sum_depth(const BoundContext& c, std::int64_t n) {
  return c.any_order ? n : std::min(n, (n + 7) / 8 + 3);
}

/// own(k) = roundings * (u |y_k| + tiny), the error of the operator's own arithmetic.
inline double own_error(const BoundContext& c, double y, double roundings) {
  return roundings * (c.unit * std::fabs(y) * (1.0 + roundings * c.unit) + c.tiny);
}

}  // namespace assay::ops
