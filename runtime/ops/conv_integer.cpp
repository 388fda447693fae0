// ConvInteger: y = conv(x - x_zero_point, w - w_zero_point), int32.
//
// Padding stands for the real zero, that is for x_zero_point. The zero point of w is one number or
// one per output channel. Sums outside int32 wrap.
#include "runtime/ops/support/int_conv_op.h"
#include "runtime/ops/support/run_op.h"

namespace assay::ops::conv_integer_op {
namespace {

void infer(InferContext& c) {
  const TensorType x{DType::float32, c.input(0).dims}, w{DType::float32, c.input(1).dims};
  c.set_output(0, {DType::int32, infer_standard("Conv", c.attributes(), {x, w}).dims});
}

void eval(EvalContext& c) {
  IntConvOp op{.x = c.input(0), .w = c.input(1)};
  if (c.has_input(2)) op.x_zero = to_ints(c.input(2)).at(0);
  if (c.has_input(3)) op.w_zeros = to_ints(c.input(3));
  c.outputs[0] = run_int_conv(c.attributes(), op);
}

const RegisterOp registered{{.type = "ConvInteger", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::conv_integer_op
