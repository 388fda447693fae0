// Activation into the operator in front.
//
// Before:  y = act(Conv(x, W, b)) or act(ai.assay.ConvAdd(x, W, b, r)); Conv, ConvTranspose, Gemm
// or MatMul After:   y = ai.assay.ConvRelu, ConvClip, ConvAddRelu, ... Algebra: none; the
// activation runs in the same kernel. With rounding = staged the pre-activation is rounded first:
// E0. Declines when: the pre-activation is read elsewhere, is a graph output or is captured; a Clip
// bound is not a constant scalar.
#include "fusion/fused_node.h"
#include "fusion/linear.h"

namespace assay::fuse_linear_activation_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  if (ctx.node(match.root).inputs[0] != ctx.node(match.node("op")).outputs[0]) return Decline{};
  if (auto why = cannot_fuse(ctx, match.node("op"))) return why;
  if (auto why = cannot_write(ctx, match.root)) return why;
  const auto activation = as_activation(ctx, match.root);
  if (const auto* why = std::get_if<Decline>(&activation)) return *why;
  ctx.scratch = std::get<Activation>(activation);
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto activation = std::any_cast<Activation>(std::move(ctx.scratch));
  Node fused = with_parts(ctx, match.node("op"), {}, activation);
  fused.outputs = {ctx.node(match.root).outputs[0]};
  ctx.erase(match.root);
  ctx.erase(match.node("op"));
  ctx.add(std::move(fused));
}

std::optional<Decline> guard_relu_only(RuleContext& ctx, const Match& match) {
  if (ctx.mode() == "bn-add-relu" && !ctx.node(match.root).is("Relu") &&
      !ctx.node(match.root).is("Clip")) {
    return Decline{"mode bn-add-relu knows ReLU and Clip only, got " + ctx.node(match.root).op_type,
                   "use --mode all"};
  }
  return guard(ctx, match);
}

const RegisterRewrite registered{{
    .name = "fuse_linear_activation",
    .stage = Stage::fuse,
    .summary = "Conv|ConvTranspose|Gemm|MatMul (+ residual Add) + activation -> ConvRelu, "
               "ConvAddRelu, ...",
    .patterns = {op(activation_types, "act", {op(may_take_activation, "op")})},
    .rows = {"M5"},
    .sets = {"bn-add-relu"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph", "Clip bound",
                 "numbers at opset < 12", "numbers of a float64 activation",
                 "activation outside the set", "output_shape of a ConvTranspose",
                 "spatial axes not known"},
    .test = "rules/fuse_linear_activation_test.cpp",
    .guard = guard_relu_only,
    .build = build,
}};

}  // namespace
}  // namespace assay::fuse_linear_activation_rule
