#include "validation/bisect/splice.h"

#include "validation/certificate/insert_region.h"

namespace assay {

Graph with_instances(const Comparison& c, const std::vector<bool>& fused) {
  Graph g = c.graphs.original;
  for (const auto& [domain, version] : c.graphs.fused.info.opsets)
    g.info.opsets.emplace(domain, version);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (!fused[i]) continue;
    const Region& r = c.alignment.regions[i];
    const ValueId old = *g.find_value(r.output);
    const ValueId made = insert_region(g, r, "instance " + std::to_string(i) + ": ");
    g.replace_uses(old, made);
    g.swap_names(made, old);
  }
  g.remove_dead();
  return g;
}

}  // namespace assay
