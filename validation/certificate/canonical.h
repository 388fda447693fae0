// One spelling for what can be written in several ways, so that both sides are compared node by
// node. Every step is an identity of real numbers for all inputs:
//   HardSigmoid(x; a, b)            Clip(a x + b, 0, 1)
//   x * Clip(v, lo, hi) / k         x * Clip(v/k, lo/k, hi/k), k > 0
//   Clip with constant bounds       Clip with attributes
//   Quantize(act(x)) that saturates where act bends   Quantize(x)
//   Concat on channels, then an affine step per channel   the step on each part
//   an affine step per channel behind moves of elements   the moves behind the step, where each
//                                   channel in front feeds one channel only
// The result is for comparison: some nodes are no ONNX operators of the graph's opset.
#pragma once

#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` so written. `shapes`: of the values, by name; those of new values are added.
Graph canonical(const Graph& g, std::map<std::string, Shape>& shapes);

}  // namespace assay
