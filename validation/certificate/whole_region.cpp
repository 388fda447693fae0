#include "validation/certificate/whole_region.h"

#include "validation/certificate/insert_region.h"

namespace assay {
namespace {

constexpr std::int64_t most_numbers = 1 << 20;  ///< constants of the graph

/// The fused side reads values of the graph alone and holds no subgraph.
bool insertable(const Graph& g, const Graph& part) {
  for (const ValueId v : part.inputs()) {
    if (!g.find_value(part.name(v))) return false;
  }
  for (const NodeId n : part.topological_order()) {
    if (!part.node(n).captures.empty()) return false;
  }
  return true;
}

std::int64_t numbers_in(const Graph& g) {
  std::int64_t n = 0;
  for (const ValueId v : g.value_ids()) {
    if (const Tensor* t = g.constant(v)) n += t->numel();
  }
  return n;
}

}  // namespace

std::optional<Region> from_graph_inputs(const Graph& original, const Region& r) {
  const auto out = original.find_value(r.output);
  if (!out || numbers_in(original) > most_numbers || !insertable(original, r.fused))
    return std::nullopt;
  Region whole = r;
  whole.dependent = {};
  whole.original = extract(original, original.inputs(), {*out});
  Graph g = original;
  for (const auto& [domain, version] : r.fused.info.opsets) g.info.opsets.emplace(domain, version);
  whole.fused = extract(g, g.inputs(), {insert_region(g, r, "fused side: ")});
  return whole;
}

Feeds all_inputs(const Graph& original, const Feeds& sample) {
  Feeds feeds = sample;
  for (const ValueId v : original.inputs()) {
    const Tensor& t = original.value(v).initializer;
    if (t.defined()) feeds.emplace(original.name(v), t);
  }
  return feeds;
}

}  // namespace assay
