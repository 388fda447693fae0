// One spelling for graphs that compute the same bits in several ways. Every step leaves each result
// as it was, bit for bit, special values included:
//   equal operators on equal inputs          one of them
//   Quantize(Dequantize(q)) on one grid      q
//   Concat of a Conv per part of a Split     Conv with groups, when all have a bias or none has
//   a normalization behind moves of elements the moves behind the normalization
#pragma once

#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` so written. `shapes`: of the values, by name; without them normalizations stay
/// where they are.
Graph bitwise_form(const Graph& g, std::map<std::string, Shape> shapes);
/// A normalization stands behind a move of elements: bitwise_form asks for shapes.
bool normalizes_behind_moves(const Graph& g);
/// Equal operators on equal inputs become one.
Graph merge_twins(const Graph& g);

}  // namespace assay
