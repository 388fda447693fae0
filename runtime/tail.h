// Tails: elementwise nodes that run on the elements of another node while these are in the cache.
//
// A node whose operator takes a tail (OpDef::takes_tail) is followed by a chain of nodes: each is
// elementwise in the value before it, and nobody else reads that value. Their passes over memory
// then vanish, and only the last value of the chain ever exists. Every element sees the same
// operations, so the bits are those of a run node by node.
#pragma once

#include <vector>

#include "runtime/op.h"

namespace assay {

/// What an executor runs: nodes in order and their definitions.
struct NodeOrder {
  const Graph& graph;
  const std::vector<NodeId>& order;
  const std::vector<const OpDef*>& ops;
};

/// Per position in the order: the positions of the chain that may run as the tail of that node,
/// from what the graph says. Every other operand of the chain is computed before the node.
std::vector<std::vector<std::size_t>> tail_chains(const NodeOrder& nodes, Precision precision);

}  // namespace assay
