#include "fusion/mode_constraint.h"

#include <map>

namespace assay {
namespace {

std::map<std::string, ModeConstraint>& constraints() {
  static std::map<std::string, ModeConstraint> registered;
  return registered;
}

}  // namespace

RegisterModeConstraint::RegisterModeConstraint(const std::string& mode, ModeConstraint constraint) {
  ASSAY_ASSERT(constraints().emplace(mode, constraint).second);
}

std::optional<Decline> mode_constraint(const RuleContext& ctx, NodeId n) {
  const auto it = constraints().find(ctx.mode());
  return it == constraints().end() ? std::nullopt : it->second(ctx, n);
}

}  // namespace assay
