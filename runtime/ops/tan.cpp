// Tan (7): y = sin x / cos x. No radius: a pole may lie inside any interval.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::tan_op {
namespace {

struct TanOp {
  using Fn = TanFn;
  static Fn make(const Attributes&) { return {}; }
};

const RegisterOp registered{
    {.type = "Tan", .since = 7, .infer = infer_float_function, .eval = eval_function<TanOp>}};

}  // namespace
}  // namespace assay::ops::tan_op
