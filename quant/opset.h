// Raises a graph's opset so that per-axis DequantizeLinear (opset 13) may be used.
//
// Operators whose meaning or form changed on the way (9 to 13): Squeeze, Unsqueeze, ReduceSum and
// Split take their axes or sizes as an input; Softmax, LogSoftmax and Hardmax work on one axis
// instead of on a flattened matrix; Clip (11), Pad (11), TopK (10), Dropout (12) and Slice (10)
// take inputs instead of attributes; Upsample (10) became Resize.
#pragma once

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` under opset `version` at least. Throws Error (unsupported) naming the node that
/// cannot be carried over.
Graph raise_opset(const Graph& g, std::int64_t version);

}  // namespace assay
