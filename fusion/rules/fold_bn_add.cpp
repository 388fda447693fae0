// Constant addend behind a batch normalization.
//
// Before:  y = Add(BatchNormalization(x; γ, β, μ, v), k) or Sub(BatchNormalization, k)
// After:   y = BatchNormalization(x; γ, β ± k, μ, v)
// Algebra: (s·x + t) + k = s·x + (t + k). β' is the exact value rounded once: E2.
// Declines when: the inner value is needed elsewhere; k or a parameter is not constant or may be
// overridden; training mode or extra
//          outputs; k is not one value per channel by right-aligned broadcasting; a result is not
//          finite.
#include "fusion/bn_rule.h"

namespace assay::fold_bn_add_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const bool subtract = ctx.node(match.root).is("Sub");
  return plan_bn_step(ctx, match, subtract ? AffineStep::Kind::sub : AffineStep::Kind::add);
}

const RegisterRewrite registered{{
    .name = "fold_bn_add",
    .stage = Stage::merge,
    .summary = "BatchNormalization + constant Add or Sub -> BatchNormalization",
    .patterns = {commutative(op("Add", "next", {op("BatchNormalization", "bn"), parameter("k")})),
                 op("Sub", "next", {op("BatchNormalization", "bn"), parameter("k")})},
    .rows = {"F3", "F13", "M4"},
    .sets = {"amct-onnx", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = bn_step_refusals(false),
    .test = "rules/fold_bn_add_test.cpp",
    .guard = guard,
    .build = build_bn_step,
}};

}  // namespace
}  // namespace assay::fold_bn_add_rule
