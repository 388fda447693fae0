// What a constraint table lets the quantizer do, node by node.
#pragma once

#include <map>
#include <optional>

#include "quant/config.h"
#include "quant/constraints.h"

namespace assay {

/// With no target in the configuration everything is allowed.
class TargetGate {
 public:
  /// Judges every node of `g` for the way in which the quantizer would do it: both inputs of an
  /// Add, symmetric weights, scales as configured. Throws Error for an unknown target or product,
  /// and when the configuration asks for what makes the target's tool fail (an × cell of its
  /// table).
  TargetGate(const Graph& g, const QuantConfig& config);

  /// Why the node stays in float; nullopt when it may be quantized.
  std::optional<Decline> refusal(NodeId n) const;
  /// The weight gets one scale, because the target does not do one per channel here.
  bool per_tensor(NodeId n) const;

 private:
  std::string target_;
  std::map<NodeId, LayerVerdict> verdicts_ = {};
};

}  // namespace assay
