#include "validation/bisect/splice.h"

namespace assay {
namespace {

/// Puts the nodes of a region behind the values that it reads.
class Splicer {
 public:
  Splicer(Graph& g, const Region& r, std::size_t index)
      : g_(g), r_(r), part_(r.fused), prefix_("instance " + std::to_string(index) + ": ") {
    for (const ValueId v : part_.value_ids()) {
      if (!part_.value(v).is_input) part_.rename(v, prefix_ + part_.name(v));
    }
  }

  void run() {
    for (const NodeId n : part_.topological_order()) add(part_.node(n));
    const ValueId old = *g_.find_value(r_.output);
    const ValueId made = here(part_.outputs()[0]);
    g_.replace_uses(old, made);
    g_.swap_names(made, old);
  }

 private:
  /// The value of the network that stands for `v` of the region.
  ValueId here(ValueId v) {
    if (!v.valid()) return {};
    const Value& x = part_.value(v);
    if (const auto known = g_.find_value(x.name)) return *known;
    if (x.initializer.defined()) return g_.add_initializer(x.name, x.initializer);
    return g_.add_value(x.name, x.type);
  }

  void add(Node node) {
    for (auto* list : {&node.inputs, &node.outputs, &node.captures}) {
      for (ValueId& v : *list) v = here(v);
    }
    node.name = g_.fresh_node_name(prefix_ + node.name);
    g_.add_node(std::move(node));
  }

  Graph& g_;
  const Region& r_;
  Graph part_;
  std::string prefix_;
};

}  // namespace

Graph with_instances(const Comparison& c, const std::vector<bool>& fused) {
  Graph g = c.graphs.original;
  for (const auto& [domain, version] : c.graphs.fused.info.opsets)
    g.info.opsets.emplace(domain, version);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (fused[i]) Splicer(g, c.alignment.regions[i], i).run();
  }
  g.remove_dead();
  return g;
}

}  // namespace assay
