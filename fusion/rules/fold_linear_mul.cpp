// Constant factor behind a linear operator, with or without a bias addition in between.
//
// Before:  y = Mul(op(x, W, b), k), Div(op(x, W, b), k), or Mul(Add(op(x, W), c), k); op is Conv,
// ConvTranspose, Gemm or MatMul After:   y = op(x, W', b') Algebra: W' = W·k per output channel, b'
// = (b + c)·k; Div: 1/k. Exact values rounded once: E2. Declines when: the inner value is needed
// elsewhere; k or W is not constant, may be overridden, is shared; k is not one value per
//          output channel by right-aligned broadcasting; division by 0; a result is not finite.
//          amct-tf: k must have the empty shape.
#include "fusion/fold_rule.h"

namespace assay::fold_linear_mul_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const auto linear = as_linear(ctx, match.node("op"));
  if (const Decline* why = declined(linear)) return *why;
  LinearOp op = std::get<LinearOp>(linear);
  const Tensor* k = ctx.constant(match.value("k"));
  if (ctx.mode() == "amct-tf" && k->shape().rank() != 0) {
    return Decline{"amct-tf folds a constant of empty shape only, got " + to_string(k->shape()),
                   "store the factor as a scalar"};
  }
  ExactAffine steps;
  std::vector<NodeId> behind;
  if (match.has("add")) {
    const auto addend = aligned_operand(ctx, match.node("add"), match.value("c"), op.rank);
    if (const Decline* why = declined(addend)) return *why;
    const auto c = per_channel(std::get<Tensor>(addend), channel_target(op));
    if (const Decline* why = declined(c)) return *why;
    op.addend = ctx.origin(match.value("c"));
    if (op.addend == nullptr)
      steps = steps.then(
          AffineStep{.kind = AffineStep::Kind::add, .gamma = std::get<std::vector<double>>(c)});
    behind.push_back(match.node("add"));
  }
  const auto operand = aligned_operand(ctx, match.root, match.value("k"), op.rank);
  if (const Decline* why = declined(operand)) return *why;
  const auto factor = per_channel(std::get<Tensor>(operand), channel_target(op));
  if (const Decline* why = declined(factor)) return *why;
  const bool divide = ctx.node(match.root).is("Div");
  steps = steps.then(AffineStep{.kind = divide ? AffineStep::Kind::div : AffineStep::Kind::mul,
                                .gamma = std::get<std::vector<double>>(factor)});
  if (const auto why = steps.undefined_at(op.channels))
    return Decline{*why, "correct the constant"};
  behind.push_back(match.root);
  return plan_fold(ctx, op, steps, std::move(behind));
}

Pattern with_bias() {
  return commutative(op("Add", "add", {op(linear_types, "op"), parameter("c")}));
}

std::vector<std::string> refusals() {
  auto list = weight_refusals();
  for (const char* more :
       {"non-constant factor", "broadcast shape", "division by 0", "amct-tf: shape not empty"})
    list.emplace_back(more);
  return list;
}

const RegisterRewrite registered{{
    .name = "fold_linear_mul",
    .stage = Stage::fold,
    .summary = "Conv|ConvTranspose|Gemm|MatMul (+ constant Add) + constant Mul or Div -> the same "
               "operator",
    .patterns = {commutative(op("Mul", "mul", {with_bias(), parameter("k")})),
                 op("Div", "mul", {with_bias(), parameter("k")}),
                 commutative(op("Mul", "mul", {op(linear_types, "op"), parameter("k")})),
                 op("Div", "mul", {op(linear_types, "op"), parameter("k")})},
    .rows = {"F5", "F13", "M3"},
    .sets = {"amct-tf", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = refusals(),
    .test = "rules/fold_linear_mul_test.cpp",
    .guard = guard,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_linear_mul_rule
