// A network run again from where it differs from one whose values are known.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/executor.h"

namespace assay {

using Values = std::map<std::string, Tensor>;

/// Runs a graph on inputs; returns its outputs and those of `also` that it computes.
using RunGraph =
    std::function<Values(const Graph& g, const Feeds& feeds, const std::set<std::string>& also)>;

RunGraph run_canonical();  ///< float32 in the canonical order
RunGraph run_kernels();    ///< compiled for these inputs

/// Every value that `g` computes, and the feeds.
Values all_values(const Graph& g, const Feeds& feeds, const RunGraph& run);

/// The graph outputs of `g`, which computes 'changed' otherwise than the network of `known` did and
/// every other value of the same name from the same values alike. Only what lies behind 'changed',
/// and what `known` does not hold, is run.
Values run_behind(const Graph& g, const std::string& changed, const Values& known,
                  const RunGraph& run);

}  // namespace assay
