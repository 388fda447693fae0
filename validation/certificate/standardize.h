// Graphs of other tools in standard operators, so that they can be compared (docs/certificates.md,
// "Region").
//
//   com.microsoft FusedConv, FusedGemm   ->  Conv / Gemm, Add, activation
//   com.microsoft.nchwc                  ->  plain NCHW: filters unblocked, padding channels cut
//   off, Reorder nodes dropped
// and nodes on constants are evaluated. Blocked values keep their names but become plain tensors.
#pragma once

#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// `channels`: channel counts of the plain tensors that ReorderInput nodes read, by value name.
/// Throws Error for a node of these domains that has no standard form.
Graph standardize(const Graph& g, const std::map<std::string, std::int64_t>& channels);

}  // namespace assay
