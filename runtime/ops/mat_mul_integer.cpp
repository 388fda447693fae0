// MatMulInteger: y = (a - a_zero_point) (b - b_zero_point), int32.
//
// Differences are taken in wide integers. The zero point of a is one number or one per row, that of
// b one or one per column. Sums outside int32 wrap.
#include "runtime/ops/support/qlinear.h"

namespace assay::ops::mat_mul_integer_op {
namespace {

std::vector<std::int32_t> zeros(const EvalContext& c, std::size_t i) {
  if (!c.has_input(i)) return {};
  const auto wide = to_ints(c.input(i));
  return {wide.begin(), wide.end()};
}

void infer(InferContext& c) { infer_int_matmul(c, 0, 1, DType::int32); }

void eval(EvalContext& c) {
  c.outputs[0] =
      int_matmul({.a = c.input(0), .b = c.input(1), .a_zero = zeros(c, 2), .b_zero = zeros(c, 3)});
}

const RegisterOp registered{{.type = "MatMulInteger", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::mat_mul_integer_op
