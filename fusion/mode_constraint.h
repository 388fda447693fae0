// What an operator must meet before the rules of a mode may take it.
//
// Some tools fuse only what they can quantize (the AMCT modes). Which operators those are is known
// above this layer, in the constraint tables: they register here what a mode asks for, and the
// folding rules ask through mode_constraint().
#pragma once

#include "fusion/rewrite.h"

namespace assay {

using ModeConstraint = std::optional<Decline> (*)(const RuleContext& ctx, NodeId n);

/// A registration object: `constraint` holds in fusion mode `mode`. One per mode.
struct RegisterModeConstraint {
  RegisterModeConstraint(const std::string& mode, ModeConstraint constraint);
};

/// Why the context's mode refuses the operator; nullopt when it does not, or asks for nothing.
std::optional<Decline> mode_constraint(const RuleContext& ctx, NodeId n);

}  // namespace assay
