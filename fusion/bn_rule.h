// A constant step behind a batch normalization: what fold_bn_mul and fold_bn_add share.
#pragma once

#include "fusion/linear.h"

namespace assay {

/// Works out the new γ and β for `kind` with the constant "k" behind "bn"; keeps the plan in the
/// context.
std::optional<Decline> plan_bn_step(RuleContext& ctx, const Match& match, AffineStep::Kind kind);
void build_bn_step(RuleContext& ctx, const Match& match);
std::vector<std::string> bn_step_refusals(bool divides);

/// Number of channels of a BatchNormalization from its constant γ; -1 when γ is not constant.
std::int64_t bn_channels(const RuleContext& ctx, NodeId bn);

}  // namespace assay
