// Finding chains of elementwise nodes in a graph.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels/chain.h"
#include "kernels/tail.h"
#include "runtime/graph.h"

namespace assay::kernels {

/// What the compiler knows while it walks the graph.
struct ChainView {
  const Graph& graph;
  std::function<const Tensor*(ValueId)> constant;
  std::function<Slot(ValueId)> slot;       ///< type, shape and the layout at hand
  std::function<bool(ValueId)> available;  ///< computed by an earlier step
};

struct ChainPlan {
  std::vector<NodeId> nodes = {};    ///< in order of the data, two or more
  std::vector<ValueId> inputs = {};  ///< bound at run time; the first `full` have the output's
                                     ///< shape, the others are per channel
  std::size_t full = 0;
  Layout layout = Layout::plain;
  ChainSpec spec;
};

/// The longest chain that begins at `first`: the values inside are read by the chain alone, all
/// nodes have one output of one shape, float32 but for a last QuantizeLinear, and the other
/// operands are computed already (float32, or codes for a DequantizeLinear), constant scalars, or
/// one value per channel. nullopt when it is shorter than two.
std::optional<ChainPlan> plan_chain(const ChainView& view, NodeId first);

struct TailPlan {
  std::vector<NodeId> nodes = {};  ///< in order of the data
  std::vector<ActivationParts> steps = {};
};

/// The longest elementwise end of the node that computes `v`: it reads `v`, which nobody else
/// reads, and scalars. `v` counts as computed.
std::optional<TailPlan> plan_tail(ChainView view, ValueId v);

}  // namespace assay::kernels
