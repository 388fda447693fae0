// Constant factor behind a batch normalization.
//
// Before:  y = Mul(BatchNormalization(x; γ, β, μ, v), k) or Div
// After:   y = BatchNormalization(x; γ·k, β·k, μ, v)
// Algebra: k·(s·x + t) = (k·s)·x + k·t. γ' and β' are exact values rounded once; when the result
// later folds into a convolution the
//          exact steps are used, not the rounded parameters: E2.
// Declines when: the inner value is needed elsewhere; k or a parameter is not constant or may be
// overridden; training mode or extra
//          outputs; k is not one value per channel by right-aligned broadcasting; division by 0; a
//          result is not finite.
#include "fusion/bn_rule.h"

namespace assay::fold_bn_mul_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const bool divide = ctx.node(match.root).is("Div");
  return plan_bn_step(ctx, match, divide ? AffineStep::Kind::div : AffineStep::Kind::mul);
}

const RegisterRewrite registered{{
    .name = "fold_bn_mul",
    .stage = Stage::merge,
    .summary = "BatchNormalization + constant Mul or Div -> BatchNormalization",
    .patterns = {commutative(op("Mul", "next", {op("BatchNormalization", "bn"), parameter("k")})),
                 op("Div", "next", {op("BatchNormalization", "bn"), parameter("k")})},
    .rows = {"F3", "F13", "M4"},
    .sets = {"amct-onnx", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = bn_step_refusals(true),
    .test = "rules/fold_bn_mul_test.cpp",
    .guard = guard,
    .build = build_bn_step,
}};

}  // namespace
}  // namespace assay::fold_bn_mul_rule
