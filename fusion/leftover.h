// What stays although no rule's pattern came near it: normalizations behind something that is no
// linear operator.
#pragma once

#include "fusion/rewrite.h"

namespace assay {

/// One entry for each BatchNormalization of the final graph at which no rule of `rules` has said
/// why it stays. Empty when the rules fold no normalizations.
std::vector<DeclinedRewrite> unexplained_normalizations(const RuleContext& ctx,
                                                        const std::vector<const Rewrite*>& rules,
                                                        const RewriteLog& log);

}  // namespace assay
