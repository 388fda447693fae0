// Old and relative spellings of single operators in one way, before two graphs are compared:
//   Split and Concat with an axis counted from the end     counted from the front
//   Add, Sub, Mul, Div before opset 7 with `axis`           the operand in the shape that aligns
//   from
//                                                           the right, without the attributes
//   auto_pad = VALID                                        no padding
// The result is for comparison: it may be no valid ONNX of the graph's opset.
#pragma once

#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` so written. `shapes`: of the values, by name; a node whose shapes are not known
/// stays as it is.
Graph plainly_spelled(const Graph& g, std::map<std::string, Shape>& shapes);

}  // namespace assay
