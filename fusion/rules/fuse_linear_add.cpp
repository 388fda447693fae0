// Residual addition into the convolution or matrix product in front: the skip connection of a
// residual block.
//
// Before:  y = Add(Conv(x, W, b), r), r not constant; Conv, ConvTranspose, Gemm or MatMul; operands
// in either order After:   y = ai.assay.ConvAdd(x, W, b, r) Algebra: none; the sum is taken in the
// same kernel. With rounding = staged the convolution is rounded before the sum: E0. Declines when:
// the product is read elsewhere; r has not the product's shape for sure; r is constant (a bias).
#include "fusion/fused_node.h"
#include "fusion/linear.h"

namespace assay::fuse_linear_add_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const ValueId r = match.value("residual");
  const ValueId product = ctx.node(match.node("op")).outputs[0];
  if (r == product) return Decline{};
  if (auto why = cannot_fuse(ctx, match.node("op"))) return why;
  if (!ctx.same_shape(product, r)) {
    return Decline{"the residual '" + ctx.graph().name(r) + "' is " + to_string(ctx.type(r)) +
                       ", the product is " + to_string(ctx.type(product)) +
                       ": not known to have equal shapes",
                   "expand the residual, or fix the input sizes"};
  }
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  Node fused = with_parts(ctx, match.node("op"), match.value("residual"), std::nullopt);
  fused.outputs = {ctx.node(match.root).outputs[0]};
  ctx.erase(match.root);
  ctx.erase(match.node("op"));
  ctx.add(std::move(fused));
}

const RegisterRewrite registered{{
    .name = "fuse_linear_add",
    .stage = Stage::fuse,
    .summary = "Conv|ConvTranspose|Gemm|MatMul + residual Add -> ConvAdd, ...",
    .patterns = {commutative(op("Add", "add", {op(linear_types, "op"), variable("residual")}))},
    .rows = {"M5"},
    .sets = {"bn-add-relu"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph", "broadcast shape",
                 "output_shape of a ConvTranspose", "spatial axes not known"},
    .test = "rules/fuse_linear_add_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fuse_linear_add_rule
