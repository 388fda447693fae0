#include "validation/programs.h"

#include <algorithm>

namespace assay {
namespace {

std::int64_t bytes_of_weights(const Graph& g) {
  std::int64_t bytes = 0;
  for (const ValueId v : g.value_ids()) {
    const Tensor& t = g.value(v).initializer;
    if (t.defined()) bytes += t.bytes();
  }
  return bytes;
}

}  // namespace

Programs::Programs(Graph g, std::int64_t weight_bytes) : graph_(std::move(g)) {
  const std::int64_t each = std::max<std::int64_t>(bytes_of_weights(graph_), 1);
  most_ = std::max<std::int64_t>(weight_bytes / each, 1);
}

kernels::Program& Programs::for_shapes_of(const Feeds& feeds) {
  std::string key;
  for (const auto& [name, t] : feeds) key += name + to_string(t.shape());
  const auto it = std::find_if(programs_.begin(), programs_.end(),
                               [&](const Entry& e) { return e.shapes == key; });
  if (it != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, it);
    return programs_.front().program;
  }
  // Freed before the new one is made, so that both never stand side by side.
  while (size() >= most_) programs_.pop_back();
  programs_.push_front({key, kernels::Program::compile(graph_, shapes_of(feeds))});
  return programs_.front().program;
}

}  // namespace assay
