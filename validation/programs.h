// Compiled programs of one graph, one per set of input shapes: the last batch of a run is smaller.
#pragma once

#include <map>
#include <string>

#include "kernels/program.h"

namespace assay {

class Programs {
 public:
  explicit Programs(Graph g) : graph_(std::move(g)) {}
  /// Compiles at the first use of these shapes.
  kernels::Program& for_shapes_of(const Feeds& feeds);
  const Graph& graph() const { return graph_; }

 private:
  Graph graph_;
  std::map<std::string, kernels::Program> programs_;
};

}  // namespace assay
