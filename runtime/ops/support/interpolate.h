// Interpolation of a tensor by taps, axis by axis (Resize, Upsample).
//
// y = sum over all taps of (product of weights) * x. The sums run in the wide type (double for
// float32 and narrower, dd for dd), innermost axis first, taps in ascending order, and the result
// is rounded once to the type of y. Integers are truncated towards zero and clamped to their type.
#pragma once

#include "runtime/ops/support/resize.h"

namespace assay::ops {

/// `taps[k]` belongs to axis k of x and has as many entries as axis k of y. Positions without taps
/// on some axis are set to `outside`.
void interpolate(const Tensor& x, const std::vector<std::vector<Taps1d>>& taps, double outside,
                 Tensor& y);

/// Radius of interpolate: the radii weighted by magnitudes, the double (or dd) evaluation, and one
/// rounding of the result.
void interpolate_radius(BoundContext& c, std::vector<std::vector<Taps1d>> taps);

}  // namespace assay::ops
