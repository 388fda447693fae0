#include "validation/certificate/input_types.h"

namespace assay {

Graph with_input_types(const Graph& cut, const Feeds& feeds) {
  Graph g = cut;
  for (const ValueId v : g.inputs()) {
    const auto fed = feeds.find(g.name(v));
    if (fed != feeds.end()) g.set_type(v, type_of(fed->second.dtype(), fed->second.shape()));
  }
  return g;
}

}  // namespace assay
