// Residual addition and its activation as one operator.
//
// Before:  y = act(Add(a, b))
// After:   y = ai.assay.AddRelu(a, b), AddClip, ...
// Algebra: none; the two operators run as one kernel. With rounding = staged the sum is rounded
// before the activation, as the
//          original does: E0.
// Declines when: the sum is read elsewhere; the shapes are not known to be equal (a fused kernel
// does not broadcast); an operand is
//          constant (that is a bias); a Clip bound is not a constant scalar; the type is not float.
#include "fusion/fused_node.h"

namespace assay::fuse_add_activation_rule {
namespace {

struct Plan {
  Activation activation;
};

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const Node& add = ctx.node(match.node("add"));
  const ValueId a = add.inputs[0];
  const ValueId b = add.inputs[1];
  if (!is_float(ctx.type(add.outputs[0]).dtype) && ctx.type(a).dtype != DType::undefined &&
      !is_float(ctx.type(a).dtype)) {
    return Decline{"the operands are " + to_string(ctx.type(a)) + ", expected a float type",
                   "use float operands"};
  }
  if (!ctx.same_shape(a, b)) {
    return Decline{"the operands have shapes " + to_string(ctx.type(a)) + " and " +
                       to_string(ctx.type(b)) + ", not known to be equal",
                   "expand the smaller operand, or fix the input sizes"};
  }
  if (auto why = cannot_write(ctx, match.root)) return why;
  const auto activation = as_activation(ctx, match.root);
  if (const auto* why = std::get_if<Decline>(&activation)) return *why;
  ctx.scratch = Plan{std::get<Activation>(activation)};
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<Plan>(std::move(ctx.scratch));
  Node fused = with_parts(ctx, match.node("add"), {}, plan.activation);
  fused.outputs = {ctx.node(match.root).outputs[0]};
  ctx.erase(match.root);
  ctx.erase(match.node("add"));
  ctx.add(std::move(fused));
}

const RegisterRewrite registered{{
    .name = "fuse_add_activation",
    .stage = Stage::finish,
    .summary = "Add + activation -> AddRelu, AddClip, ...",
    .patterns = {op(activation_types, "act", {op("Add", "add", {variable("a"), variable("b")})})},
    .rows = {"M5"},
    .sets = {"bn-add-relu"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph", "broadcast shape",
                 "dtype", "Clip bound", "numbers at opset < 12", "numbers of a float64 activation"},
    .test = "rules/fuse_add_activation_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fuse_add_activation_rule
