// A region with everything of the original in front of it: both sides as functions of the graph's
// own inputs.
//
// Inputs of a region that depend on each other cannot be chosen freely, and at the region they hold
// the rounding of what lies between. The graph's inputs are free, and behind them everything is
// computed again at the level of the comparison.
#pragma once

#include <optional>
#include <vector>

#include "runtime/executor.h"
#include "validation/certificate/regions.h"

namespace assay {

/// `original` up to the region's output, and the same with the region's fused side in its place.
/// nullopt when the fused side holds subgraphs, or the graph is too large to be run a few dozen
/// times with bounds.
std::optional<Region> from_graph_inputs(const Graph& original, const Region& r);

/// What the graph's inputs are fed, defaults included.
Feeds all_inputs(const Graph& original, const Feeds& sample);

}  // namespace assay
