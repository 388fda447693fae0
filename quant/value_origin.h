// Where a value comes from: stored constants alone, or something that changes from run to run.
#pragma once

#include <string>

#include "runtime/graph.h"

namespace assay {

/// What a value rests on besides constants, followed through any number of nodes.
struct Origin {
  std::string changing = {};     ///< first changing source found; empty: none, a constant
  bool only_overridable = true;  ///< every changing source is a stored value that callers override

  bool constant() const { return changing.empty(); }
};

/// Changing are inputs of the graph, stored values that the caller may override, values captured
/// from outside, and operators that make random numbers.
Origin origin_of(const Graph& g, ValueId v);

}  // namespace assay
