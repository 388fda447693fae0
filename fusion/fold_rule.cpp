#include "fusion/fold_rule.h"

namespace assay {

std::optional<Decline> plan_fold(RuleContext& ctx, const LinearOp& op, const ExactAffine& steps,
                                 std::vector<NodeId> behind) {
  auto folded = fold_behind(ctx, op, steps);
  if (const Decline* why = declined(folded)) return *why;
  ctx.scratch = FoldPlan{std::get<Folded>(std::move(folded)), std::move(behind)};
  return std::nullopt;
}

std::optional<Decline> not_rank_2(const RuleContext& ctx, const LinearOp& op,
                                  const std::string& why, const std::string& edit) {
  if (op.kind != LinearOp::Kind::matmul || op.rank == 2) return std::nullopt;
  return Decline{"the output of " + op.text(ctx.graph()) + " has rank " +
                     (op.rank < 0 ? std::string("unknown") : std::to_string(op.rank)) + "; " + why,
                 edit};
}

std::optional<Decline> channels_not_axis_1(const RuleContext& ctx, const LinearOp& op) {
  return not_rank_2(ctx, op,
                    "the normalization scales axis 1, which is the weight's only at rank 2",
                    "normalize a rank-2 value");
}

std::optional<Decline> guard_batch_norm(RuleContext& ctx, const Match& match) {
  const NodeId bn = match.node("bn");
  if (ctx.node(bn).inputs[0] != ctx.node(match.node("op")).outputs[0]) return Decline{};
  const auto linear = as_linear(ctx, match.node("op"));
  if (const Decline* why = declined(linear)) return *why;
  const LinearOp& op = std::get<LinearOp>(linear);
  if (auto why = channels_not_axis_1(ctx, op)) return why;
  const auto steps = batch_norm_steps(ctx, bn, op.channels);
  if (const Decline* why = declined(steps)) return *why;
  return plan_fold(ctx, op, std::get<ExactAffine>(steps), {bn});
}

void build_fold(RuleContext& ctx, const Match&) {
  const auto plan = std::any_cast<FoldPlan>(std::move(ctx.scratch));
  build_folded(ctx, plan.folded, plan.behind);
}

std::vector<std::string> weight_refusals() {
  return {"second reader",
          "inner graph output",
          "captured by a subgraph",
          "weight not constant",
          "caller-fed weight",
          "shared weight",
          "dtype",
          "rank",
          "non-finite result",
          "bias not constant",
          "bias shape",
          "AMCT: not quantizable by its table"};
}

std::vector<std::string> batch_norm_refusals() {
  auto list = weight_refusals();
  for (const char* more :
       {"non-constant parameter", "parameter length", "training mode", "extra outputs",
        "spatial=0 (opset < 9)", "variance + epsilon not positive"}) {
    list.emplace_back(more);
  }
  return list;
}

}  // namespace assay
