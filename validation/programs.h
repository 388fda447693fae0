// Compiled programs of one graph by input shapes: the last batch of a run is smaller, and samples
// of a data set may differ in size.
#pragma once

#include <list>
#include <string>

#include "kernels/program.h"

namespace assay {

class Programs {
 public:
  static constexpr std::int64_t default_weight_bytes = 64 << 20;

  /// Each program packs the graph's weights anew. Those used last are kept while their weights take
  /// no more than `weight_bytes` together; one is always kept.
  explicit Programs(Graph g, std::int64_t weight_bytes = default_weight_bytes);
  /// Compiles when no program for these shapes is kept. Valid until the next call.
  kernels::Program& for_shapes_of(const Feeds& feeds);
  const Graph& graph() const { return graph_; }
  /// Programs that are kept.
  std::int64_t size() const { return static_cast<std::int64_t>(programs_.size()); }

 private:
  struct Entry {
    std::string shapes;
    kernels::Program program;
  };

  Graph graph_;
  std::int64_t most_ = 1;
  std::list<Entry> programs_;  // used last in front
};

}  // namespace assay
