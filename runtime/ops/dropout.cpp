// Dropout (1, 6, 7, 10, 12, 13) at inference: y = x; mask is all true (before opset 10: all ones in
// the type of x).
//
// training_mode = true (opset 12 and later) with a ratio above 0 draws random numbers that no
// definition fixes: refused.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::dropout_op {
namespace {

void infer(InferContext& c) {
  c.set_output(0, c.input(0));
  c.set_output(1, {c.opset >= 10 ? DType::boolean : c.input(0).dtype, c.input(0).dims});
}

void refuse_training(const EvalContext& c) {
  if (c.opset < 12 || !c.has_input(2) || c.input(2).numel() == 0) return;
  if (to_ints(c.input(2))[0] == 0) return;
  const double ratio = c.has_input(1) && c.input(1).numel() != 0 ? to_doubles(c.input(1))[0] : 0.5;
  if (ratio == 0.0) return;
  throw Error({.what = "Dropout in training mode draws random numbers",
               .expected = "training_mode false or ratio 0",
               .kind = ErrorKind::unsupported});
}

void eval(EvalContext& c) {
  refuse_training(c);
  c.output(0) = c.input(0);
  if (!c.has_output(1)) return;
  visit_dtype(c.output(1).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& v : c.out<T>(1)) v = T(1.0F);
  });
}

void bound(BoundContext& c) { bound_lipschitz(c, 1.0, 0.0); }

const RegisterOp registered{
    {.type = "Dropout", .since = 1, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::dropout_op
