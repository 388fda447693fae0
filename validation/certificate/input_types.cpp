#include "validation/certificate/input_types.h"

namespace assay {

Graph with_input_types(const Graph& cut, const Feeds& feeds) {
  Graph g = cut;
  for (const ValueId v : g.inputs()) {
    const Tensor& t = feeds.at(g.name(v));
    ValueType type{t.dtype(), std::vector<Dim>{}};
    for (const std::int64_t d : t.shape().dims()) type.dims->push_back({.size = d});
    g.set_type(v, std::move(type));
  }
  return g;
}

std::map<std::string, Shape> shapes_of(const Feeds& feeds) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, t] : feeds) shapes[name] = t.shape();
  return shapes;
}

}  // namespace assay
