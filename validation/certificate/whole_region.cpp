#include "validation/certificate/whole_region.h"

#include <map>

namespace assay {
namespace {

constexpr std::int64_t most_numbers = 1 << 20;  ///< constants of the graph

/// Adds the region's fused side to `g`, which holds the values that it reads. Answers its output.
std::optional<ValueId> insert(Graph& g, const Region& r) {
  const Graph& part = r.fused;
  std::map<ValueId, ValueId> here;
  const auto at = [&](ValueId v) {
    if (!v.valid()) return v;
    auto it = here.find(v);
    if (it == here.end()) {
      const std::string name = g.fresh_name(part.name(v) + "_fused");
      const Tensor* t = part.constant(v);
      it = here.emplace(v, t != nullptr ? g.add_initializer(name, *t) : g.add_value(name)).first;
    }
    return it->second;
  };
  for (const ValueId v : part.inputs()) {
    const auto known = g.find_value(part.name(v));
    if (!known) return std::nullopt;
    here[v] = *known;
  }
  for (const NodeId n : part.topological_order()) {
    Node node = part.node(n);
    if (!node.captures.empty()) return std::nullopt;
    node.name = g.fresh_node_name(node.name);
    for (ValueId& v : node.inputs) v = at(v);
    for (ValueId& v : node.outputs) v = at(v);
    g.add_node(std::move(node));
  }
  return at(part.outputs()[0]);
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
  if (!out || numbers_in(original) > most_numbers) return std::nullopt;
  Region whole = r;
  whole.dependent = {};
  whole.original = extract(original, original.inputs(), {*out});
  Graph g = original;
  for (const auto& [domain, version] : r.fused.info.opsets) g.info.opsets.emplace(domain, version);
  const auto fused = insert(g, r);
  if (!fused) return std::nullopt;
  whole.fused = extract(g, g.inputs(), {*fused});
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
