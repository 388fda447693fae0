// What can be said of two regions without numbers, and the fused structure with exact constants.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "runtime/executor.h"
#include "validation/certificate/normal_form.h"
#include "validation/certificate/regions.h"

namespace assay {

/// Same operators, attributes and constants (by bits) in the same wiring from the same inputs;
/// value names do not matter.
bool isomorphic(const Graph& a, const Graph& b);
/// True when both sides only move elements of one value (Reshape, Transpose, Slice ...) and put
/// every element of `like` in the same place: shown on an input that numbers its elements.
bool same_moves(const Graph& a, const Graph& b, const Feeds& like);
/// True when a fused operator of the graph rounds its composite once.
bool rounds_once(const Graph& fused);
/// Shapes of every value of both sides of a region.
std::map<std::string, Shape> value_shapes(const Region& r, const Feeds& feeds);
/// `plain` with the weights and bias of its linear operator replaced by the exact values rounded to
/// float64; nullopt when it has not exactly one linear operator with constant weights.
std::optional<Graph> with_exact_constants(const Graph& plain, const NormalForm& original);

}  // namespace assay
