// IsNaN (9, 13, 20) and IsInf (10, 20; detect_positive, detect_negative, both 1 when absent): bool
// per element.
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::is_nan_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  c.set_output(0, {DType::boolean, c.input(0).dims});
}

void eval_nan(EvalContext& c) {
  visit_float(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_unary<bool, T>(c.input(0), c.output(0), [](const Wide<T>& v) { return not_a_number(v); });
  });
}

void eval_inf(EvalContext& c) {
  const bool up = c.attributes().int_or("detect_positive", 1) != 0;
  const bool down = c.attributes().int_or("detect_negative", 1) != 0;
  visit_float(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_unary<bool, T>(c.input(0), c.output(0), [up, down](const Wide<T>& v) {
      return (up && v == infinity<Wide<T>>()) || (down && v == -infinity<Wide<T>>());
    });
  });
}

const RegisterOp registered{
    std::vector<OpDef>{{.type = "IsNaN", .since = 9, .infer = infer, .eval = eval_nan},
                       {.type = "IsInf", .since = 10, .infer = infer, .eval = eval_inf}}};

}  // namespace
}  // namespace assay::ops::is_nan_op
