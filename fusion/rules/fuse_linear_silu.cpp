// x·Sigmoid(x) into the operator in front.
//
// Before:  c = Conv(x, W, b) or ai.assay.ConvAdd(x, W, b, r);  y = Mul(c, Sigmoid(c))
// After:   y = ai.assay.ConvSilu, ConvAddSilu, ...
// Algebra: none; with rounding = staged the product, the sigmoid and the multiplication are rounded
// where they were: E0. Declines when: the pre-activation or the sigmoid is read elsewhere, is a
// graph output or is captured by a subgraph.
#include "fusion/fused_node.h"
#include "fusion/linear.h"

namespace assay::fuse_linear_silu_rule {
namespace {

void build(RuleContext& ctx, const Match& match) {
  Node fused = with_parts(ctx, match.node("op"), {}, Activation{.type = "Silu"});
  fused.outputs = {ctx.node(match.root).outputs[0]};
  ctx.erase(match.root);
  ctx.erase(match.node("gate"));
  ctx.erase(match.node("op"));
  ctx.add(std::move(fused));
}

Pattern form() {
  const Pattern front = op(may_take_activation, "op");
  return commutative(op("Mul", "mul", {front, op("Sigmoid", "gate", {front})}));
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  return cannot_fuse(ctx, match.node("op"));
}

const RegisterRewrite registered{{
    .name = "fuse_linear_silu",
    .stage = Stage::fuse,
    .summary = "Conv|ConvTranspose|Gemm|MatMul (+ residual Add) + x·Sigmoid(x) -> ConvSilu, ...",
    .patterns = {form()},
    .rows = {"M5"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph",
                 "output_shape of a ConvTranspose", "spatial axes not known"},
    .test = "rules/fuse_linear_silu_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fuse_linear_silu_rule
