// The integer convolution behind ConvInteger and QLinearConv.
#pragma once

#include <vector>

#include "runtime/numeric/conv_shape.h"
#include "runtime/op.h"

namespace assay::ops {

struct IntConvOp {
  Tensor x, w;
  std::int64_t x_zero = 0;
  std::vector<std::int64_t> w_zeros = {0};  ///< one, or one per output channel
};
/// Exact sums (wrapped to int32), shape of the result. Attributes are those of Conv.
Tensor run_int_conv(const Attributes& attributes, const IntConvOp& op);

}  // namespace assay::ops
