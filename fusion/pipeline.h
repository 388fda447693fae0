// Pipeline: runs the rules of a mode over a graph, stage by stage, each to a fixpoint, and logs what happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fusion/rewrite.h"

namespace assay {

struct FusionOptions {
  /// none, bn, bn-add-relu, amct-onnx, amct-tf, amct-caffe, all, or rule names separated by commas.
  std::string mode = "all";
  /// Rule names, node names or output value names; * and ? are wildcards. An entry that fits nothing throws Error.
  std::vector<std::string> skip = {};
  /// Tests only: the rules of a stage in another order. 0 keeps the order, 1 reverses it, others shuffle with this seed.
  unsigned order_seed = 0;
};

struct FusionResult {
  Graph graph;
  RewriteLog log;
};

/// Rewrites a copy of `g`. Every rewrite keeps the name of its root output. Throws Error for unknown modes and skips.
FusionResult fuse(const Graph& g, const FusionOptions& options = {});

struct FusionMode {
  std::string name;
  std::string meaning;
};
/// The named modes, in the order in which help texts list them.
const std::vector<FusionMode>& fusion_modes();
/// Rules of a mode by name. Throws Error for an unknown mode or rule, listing the known ones.
std::vector<const Rewrite*> rules_of(const std::string& mode);

}  // namespace assay
