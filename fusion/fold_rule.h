// What the folding rules share: guards that work out the new constants once and leave them in the
// context, and the build.
#pragma once

#include "fusion/linear.h"

namespace assay {

/// Worked out by a guard, used by build_fold.
struct FoldPlan {
  Folded folded;
  std::vector<NodeId> behind;  ///< nodes that vanish, root last
};

/// Guard of BatchNormalization "bn" behind the linear operator "op".
std::optional<Decline> guard_batch_norm(RuleContext& ctx, const Match& match);
/// A MatMul of another rank than 2, where `why` makes that a refusal and `edit` helps.
std::optional<Decline> not_rank_2(const RuleContext& ctx, const LinearOp& op,
                                  const std::string& why, const std::string& edit);
/// The same where a normalization is to meet the weight's channels: they are its axis 1 only at
/// rank 2.
std::optional<Decline> channels_not_axis_1(const RuleContext& ctx, const LinearOp& op);
/// Common end of a guard: folds `steps` into `op`, keeps the plan.
std::optional<Decline> plan_fold(RuleContext& ctx, const LinearOp& op, const ExactAffine& steps,
                                 std::vector<NodeId> behind);
void build_fold(RuleContext& ctx, const Match& match);

std::vector<std::string> batch_norm_refusals();
/// Refusals of every rule that changes a weight.
std::vector<std::string> weight_refusals();

}  // namespace assay
