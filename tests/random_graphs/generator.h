// Random graphs of the operators that the fusion rules work on. Same seed, same graph.
#pragma once

#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay::testing {

struct RandomGraph {
  std::uint64_t seed = 0;
  Graph graph;
  /// Every input fed; the last sample gives other numbers for parameters with a default.
  std::vector<Feeds> samples;
};

/// Written to ONNX and read again, so that it is what a file holds.
RandomGraph random_graph(std::uint64_t seed);

}  // namespace assay::testing
