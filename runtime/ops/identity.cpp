// Identity (1, 13, 14, 16): y = x for tensors of any type.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::identity_op {
namespace {

void eval(EvalContext& c) { c.output(0) = c.input(0); }

void bound(BoundContext& c) { bound_lipschitz(c, 1.0, 0.0); }

const RegisterOp registered{
    {.type = "Identity", .since = 1, .infer = infer_same, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::identity_op
