// Constant addend behind a linear operator becomes its bias.
//
// Before:  y = Add(op(x, W, b), k), Sub(op, k) or Sub(k, op); op is Conv, ConvTranspose, Gemm, or
// MatMul with a rank-2 output After:   y = op(x, W, b+k); op(x, W, b−k); op(x, −W, k−b). MatMul
// becomes Gemm. Algebra: b' = b ± k, exact and rounded once; −W is exact. Without an old bias b' =
// ±k is exact too: E1, else E2. Declines when: the inner value is needed elsewhere; k is not
// constant or may be overridden; k is not one value per output
//          channel by right-aligned broadcasting ([C] is the last axis of an image, not its
//          channels); MatMul of another rank.
#include "fusion/fold_rule.h"

namespace assay::fold_linear_add_rule {
namespace {

using Step = AffineStep::Kind;

ExactAffine steps_of(const Node& root, bool constant_first, std::vector<double> k) {
  if (root.is("Add")) return ExactAffine({{.kind = Step::add, .gamma = std::move(k)}});
  if (!constant_first) return ExactAffine({{.kind = Step::sub, .gamma = std::move(k)}});
  return ExactAffine({{.kind = Step::negate}, {.kind = Step::add, .gamma = std::move(k)}});
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const auto linear = as_linear(ctx, match.node("op"));
  if (const Decline* why = declined(linear)) return *why;
  const LinearOp& op = std::get<LinearOp>(linear);
  if (auto why = not_rank_2(ctx, op, "only a rank-2 product has an operator with bias (Gemm)",
                            "reshape the operand to rank 2"))
    return why;
  const auto operand = aligned_operand(ctx, match.root, match.value("k"), op.rank);
  if (const Decline* why = declined(operand)) return *why;
  const auto k = per_channel(std::get<Tensor>(operand), channel_target(op));
  if (const Decline* why = declined(k)) return *why;
  const Node& root = ctx.node(match.root);
  const bool constant_first = root.inputs[0] == match.value("k");
  const ExactAffine steps = steps_of(root, constant_first, std::get<std::vector<double>>(k));
  if (const auto why = steps.undefined_at(op.channels))
    return Decline{*why, "correct the constant"};
  return plan_fold(ctx, op, steps, {match.root});
}

std::vector<std::string> refusals() {
  auto list = weight_refusals();
  for (const char* more : {"caller-fed addend", "broadcast shape", "rank of a MatMul's output"})
    list.emplace_back(more);
  return list;
}

const RegisterRewrite registered{{
    .name = "fold_linear_add",
    .stage = Stage::fold,
    .summary =
        "Conv|ConvTranspose|Gemm|MatMul + constant Add or Sub -> the same operator with a bias",
    .patterns = {commutative(op("Add", "add", {op(linear_types, "op"), parameter("k")})),
                 commutative(op("Sub", "add", {op(linear_types, "op"), parameter("k")}))},
    .rows = {"F10", "F13", "F14", "M3"},
    .sets = {"amct-onnx", "amct-tf", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = refusals(),
    .test = "rules/fold_linear_add_test.cpp",
    .guard = guard,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_linear_add_rule
