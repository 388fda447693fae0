// What can be said of two regions without numbers.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/executor.h"
#include "validation/certificate/regions.h"

namespace assay {

/// Same operators, attributes and constants (by bits) in the same wiring from the same inputs;
/// value names do not matter.
bool isomorphic(const Graph& a, const Graph& b);
/// True when both sides only move elements of one value (Reshape, Transpose, Slice ...) and put
/// every element of `like` in the same place: shown on an input that numbers its elements.
bool same_moves(const Graph& a, const Graph& b, const Feeds& like);
/// True when every output is computed from constants and the shapes of the inputs alone.
bool only_shapes(const Graph& g);
/// Values computed from constants and shapes alone.
std::set<ValueId> shape_values(const Graph& g);
/// True when a fused operator of the graph rounds its composite once.
bool rounds_once(const Graph& fused);
/// What a run of both sides of a region on one input says about every value, by name.
struct RegionShapes {
  std::map<std::string, Shape> shapes = {};
  /// Values computed from constants and shapes alone, of each side.
  std::map<std::string, Tensor> counts_original = {}, counts_fused = {};
};
RegionShapes value_shapes(const Region& r, const Feeds& feeds);

}  // namespace assay
