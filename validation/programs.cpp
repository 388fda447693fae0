#include "validation/programs.h"

namespace assay {

kernels::Program& Programs::for_shapes_of(const Feeds& feeds) {
  std::string key;
  for (const auto& [name, t] : feeds) key += name + to_string(t.shape());
  auto it = programs_.find(key);
  if (it == programs_.end())
    it = programs_.emplace(key, kernels::Program::compile(graph_, shapes_of(feeds))).first;
  return it->second;
}

}  // namespace assay
