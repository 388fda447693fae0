// Relu (1, 6, 13, 14): y = max(x, 0).
//
// Relu(-0) = +0 and Relu of anything negative is +0. A NaN is passed on with its bits. Integers
// from opset 14.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::relu_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_same(c);
}

RangeFn ranges(EvalContext& c) {
  RangeFn made;
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // A NaN fails the comparison and is kept.
    made = unary_ranges(c.in<T>(0).data(), c.out<T>(0).data(),
                        [](const T& v) { return load<T>(v) <= Wide<T>(0.0F) ? T(0.0F) : v; });
  });
  return made;
}

void bound(BoundContext& c) { bound_lipschitz(c, 1.0, 0.0); }

const RegisterOp registered{{.type = "Relu",
                             .since = 1,
                             .infer = infer,
                             .eval = eval_ranges<ranges>,
                             .bound = bound,
                             .in_place = true,
                             .elementwise = {1, ranges}}};

}  // namespace
}  // namespace assay::ops::relu_op
