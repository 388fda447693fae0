#include "runtime/ops/support/int_conv_op.h"

#include "runtime/numeric/int_gemm.h"
#include "runtime/ops/support/run_op.h"
#include "runtime/ops/support/window.h"

namespace assay::ops {

Tensor run_int_conv(const Attributes& attributes, const IntConvOp& op) {
  const ConvShape s = read_conv_shape(attributes, op.x.shape(), op.w.shape(), false);
  const TensorType float_x{DType::float32, op.x.shape().vec()},
      float_w{DType::float32, op.w.shape().vec()};
  Tensor y(DType::int32, infer_standard("Conv", attributes, {float_x, float_w}).shape());
  const auto x_zero = static_cast<std::int32_t>(op.x_zero);
  const std::vector<std::int32_t> w_zeros(op.w_zeros.begin(), op.w_zeros.end());
  int_conv({.shape = s,
            .x = {op.x.raw().data(), op.x.dtype() == DType::int8, {&x_zero, 1}},
            .w = {op.w.raw().data(), op.w.dtype() == DType::int8, w_zeros},
            .y = y.mutable_data<std::int32_t>().data()});
  return y;
}

}  // namespace assay::ops
