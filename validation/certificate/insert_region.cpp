#include "validation/certificate/insert_region.h"

namespace assay {

ValueId insert_region(Graph& g, const Region& r, const std::string& prefix) {
  Graph part = r.fused;
  for (const ValueId v : part.value_ids()) {
    if (!part.value(v).is_input) part.rename(v, prefix + part.name(v));
  }
  // The value of `g` that stands for `v` of the region.
  const auto here = [&](ValueId v) {
    if (!v.valid()) return v;
    const Value& x = part.value(v);
    if (const auto known = g.find_value(x.name)) return *known;
    if (x.initializer.defined()) return g.add_initializer(x.name, x.initializer);
    return g.add_value(x.name, x.type);
  };
  for (const NodeId n : part.topological_order()) {
    Node node = part.node(n);
    for (auto* list : {&node.inputs, &node.outputs, &node.captures}) {
      for (ValueId& v : *list) v = here(v);
    }
    node.name = g.fresh_node_name(prefix + node.name);
    g.add_node(std::move(node));
  }
  return here(part.outputs()[0]);
}

}  // namespace assay
