// Element conversion that truncates floats towards zero on their way to integers (Cast, OneHot).
// runtime/tensor.h's convert rounds to the nearest integer.
#pragma once

#include "runtime/tensor.h"

namespace assay::ops {

/// As convert(); from a float type to an integer type the value is truncated first. Out of range
/// gives the nearest bound, NaN gives 0.
Tensor truncating_convert(const Tensor& t, DType to);

}  // namespace assay::ops
