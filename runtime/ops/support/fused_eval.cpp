#include "runtime/ops/support/fused_eval.h"

#include <algorithm>

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/call_op.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/function_op.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops {
namespace {

Tensor input_or_none(const std::vector<Tensor>& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i] : Tensor();
}

std::vector<Tensor> base_inputs(const FusedCall& call, const std::vector<Tensor>& inputs) {
  const auto count = std::min(call.base_inputs, inputs.size());
  return {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Base and residual, each rounded in the type of the inputs.
Tensor before_activation(const FusedCall& call, const std::vector<Tensor>& inputs,
                         const InnerCall& inner) {
  Tensor y = call_op(call.base, base_inputs(call, inputs), inner);
  if (!call.form.add) return y;
  const Tensor residual = input_or_none(inputs, 3);
  if (!residual.defined()) {
    throw Error({.what = "input 3 (residual) is required but absent"});
  }
  return call_op(inner_node("Add"), {y, residual}, {.precision = inner.precision});
}

/// The composite in double-double, rounded once. Its error is about 2^-95 of the sum of the
/// magnitudes, so it is the correctly rounded value unless the exact one lies that close to a
/// rounding boundary.
Tensor in_double_double(const FusedCall& call, const std::vector<Tensor>& inputs, DType to) {
  std::vector<Tensor> wide;
  for (const Tensor& t : inputs)
    wide.push_back(t.defined() && is_float(t.dtype()) ? convert(t, DType::dd) : t);
  const Tensor z = before_activation(call, wide, {.precision = Precision::dd});
  if (call.form.activation == "Silu") {
    Tensor y(DType::dd, z.shape());
    run_function(SwishFn{}, z, y, false);
    return convert(y, to);
  }
  return convert(run_activation(call.form.activation, call.activation, z, Precision::dd), to);
}

bool slope_is_one(const std::string& activation) {
  return activation.empty() || activation == "Relu" || activation == "Clip";
}

/// Largest slope of an activation; the constants of certificates.md section 8 and of the operators'
/// own files.
double slope(const std::string& name, const Attributes& a) {
  const double alpha = std::fabs(double{a.float_or("alpha", name == "HardSigmoid" ? 0.2F : 1.0F)});
  if (name == "HardSwish") return 1.5;
  if (name == "Silu") return 1.1;
  if (name == "Gelu") return 1.13;
  if (name == "Mish") return 1.1;
  if (name == "Sigmoid") return 0.25;
  if (name == "HardSigmoid") return alpha;
  if (name == "LeakyRelu") return std::max(1.0, std::fabs(double{a.float_or("alpha", 0.01F)}));
  if (name == "Elu") return std::max(1.0, alpha);
  return 1.0;
}

/// Roundings after the activation's exact argument, relative to its result.
double roundings(const std::string& name) {
  if (slope_is_one(name)) return 0.0;
  return name == "Silu" ? 3.0 : 2.0;
}

}  // namespace

Tensor run_activation(const std::string& name, const Attributes& attributes, const Tensor& x,
                      Precision precision) {
  if (name.empty()) return x;
  const InnerCall inner{.precision = precision};
  if (name == "Silu")
    return call_op(inner_node("Mul"), {x, call_op(inner_node("Sigmoid"), {x}, inner)}, inner);
  if (name == "Clip")
    return call_op(inner_node("Clip", attributes), {x}, {precision, 6, nullptr, {}});
  return call_op(inner_node(name, attributes), {x}, inner);
}

void infer_fused(InferContext& c, const FusedCall& call) {
  TensorType type = infer_inner(c, call.base, call.base_inputs);
  if (call.form.add && type.dims && c.input(3).dims) {
    type.dims = broadcast_dims(*type.dims, *c.input(3).dims);
  }
  c.set_output(0, type);
}

void eval_fused(EvalContext& c, const FusedCall& call) {
  const InnerCall inner{c.precision, kInnerOpset, c.state, c.constant_input};
  const bool merged = call.single && c.precision == Precision::cr &&
                      (call.form.add || !slope_is_one(call.form.activation));
  if (merged) {
    c.output(0) = in_double_double(call, c.inputs, c.output(0).dtype());
    return;
  }
  const Tensor z = before_activation(call, c.inputs, inner);
  c.output(0) = run_activation(call.form.activation, call.activation, z, c.precision);
}

/// Radius of the base, of the residual and of the Add's rounding (on the recomputed sum), then the
/// activation's slope.
void bound_fused(BoundContext& c, const FusedCall& call) {
  const OpDef& def = require_op(call.base, kInnerOpset);
  const InnerCall wide{.precision = Precision::f64};
  BoundContext base = c;
  base.node = &call.base;
  base.opset = kInnerOpset;
  base.inputs = base_inputs(call, c.inputs);
  base.outputs = {call_op(call.base, base.inputs, wide)};
  base.radii.resize(std::max(base.radii.size(), c.inputs.size()));
  base.result.clear();
  def.bound(base);
  if (base.result.empty() || !base.result[0].defined()) return;
  Tensor z = base.outputs[0];
  Tensor radius = base.result[0];
  if (call.form.add) {
    const Tensor residual_radius = input_or_none(c.radii, 3);
    z = before_activation(call, c.inputs, wide);
    if (residual_radius.defined())
      radius = call_op(inner_node("Add"), {radius, residual_radius}, wide);
  }
  const double steps = call.form.add ? 1.0 : 0.0;
  const double lipschitz = slope(call.form.activation, call.activation);
  const double own = roundings(call.form.activation);
  const auto sum = z.data<double>(), before = radius.data<double>();
  const auto y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::size_t i = 0; i < out.size(); ++i) {
    // The intermediate results of this run differ from the canonical ones that the base's bound
    // used by at most its radius.
    const double at_sum =
        before[i] * (1.0 + 0x1p-12) + steps * own_error(c, std::fabs(sum[i]) + before[i], 1.0);
    out[i] = outward(lipschitz * at_sum + own_error(c, y[i], own));
  }
}

std::int64_t macs_fused(const InferContext& c, const FusedCall& call) {
  const OpDef& def = require_op(call.base, kInnerOpset);
  if (def.macs == nullptr) return 0;
  InferContext inner = c;
  Node node = call.base;
  const auto count = std::min(call.base_inputs, c.node->inputs.size());
  node.inputs.assign(c.node->inputs.begin(),
                     c.node->inputs.begin() + static_cast<std::ptrdiff_t>(count));
  node.outputs = c.node->outputs;
  inner.node = &node;
  inner.opset = kInnerOpset;
  return def.macs(inner);
}

}  // namespace assay::ops
