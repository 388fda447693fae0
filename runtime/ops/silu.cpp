// Silu and HardSwish of Assay's own domain `ai.assay` (since 1): what the fusing rules make of
// Sigmoid + Mul and of HardSigmoid + Mul.
//
//   Silu      y = x / (1 + e^-x)
//   HardSwish y = x max(0, min(1, act_alpha x + act_beta)), act_alpha 1/6 (as float32) and act_beta
//   1/2 when absent
// rounding = "staged" (default) rounds the gate, then the product, as the two nodes did; "single"
// rounds the composite once (cr).
#include "runtime/ops/support/call_op.h"
#include "runtime/ops/support/function_op.h"

namespace assay::ops::silu_op {
namespace {

bool single(const EvalContext& c) {
  return c.precision == Precision::cr && c.attributes().string_or("rounding", "staged") == "single";
}

void eval_silu(EvalContext& c) {
  if (single(c)) return run_function(SwishFn{}, c.input(0), c.output(0), true);
  const InnerCall inner{.precision = c.precision};
  const Tensor gate = call_op(inner_node("Sigmoid"), {c.input(0)}, inner);
  c.output(0) = call_op(inner_node("Mul"), {c.input(0), gate}, inner);
}

Attributes gate_of(const Attributes& a) {
  return {{"alpha", a.float_or("act_alpha", 1.0F / 6.0F)}, {"beta", a.float_or("act_beta", 0.5F)}};
}

/// The composite in double-double, rounded once: exact products of the gate and x need at most 24 +
/// 48 bits where the gate is alpha x + beta without cancellation.
Tensor gated(const Tensor& x, const Attributes& attributes, Precision precision) {
  const InnerCall inner{.precision = precision};
  const Tensor gate = call_op(inner_node("HardSigmoid", gate_of(attributes)), {x}, inner);
  return call_op(inner_node("Mul"), {x, gate}, inner);
}

void eval_hard_swish(EvalContext& c) {
  if (!single(c)) {
    c.output(0) = gated(c.input(0), c.attributes(), c.precision);
    return;
  }
  const Tensor wide = gated(convert(c.input(0), DType::dd), c.attributes(), Precision::dd);
  c.output(0) = convert(wide, c.input(0).dtype());
}

void bound_silu(BoundContext& c) { bound_lipschitz(c, 1.1, 4.0); }

/// Slope of x (alpha x + beta) inside the ramp: at most 2 - beta at the upper end (where the gate
/// is 1) and beta in size at the lower end.
void bound_hard_swish(BoundContext& c) {
  const double beta = std::fabs(double{c.node->attributes.float_or("act_beta", 0.5F)});
  bound_lipschitz(c, 2.0 + beta, 4.0);
}

OpDef own(const char* type, Eval eval, Bound bound) {
  return {.type = type,
          .domain = assay_domain,
          .since = 1,
          .infer = infer_float_function,
          .eval = eval,
          .bound = bound};
}

const RegisterOp registered{std::vector<OpDef>{
    own("Silu", eval_silu, bound_silu), own("HardSwish", eval_hard_swish, bound_hard_swish)}};

}  // namespace
}  // namespace assay::ops::silu_op
