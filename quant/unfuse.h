// Fused operators of Assay's domain as the standard operators they stand for, so that a quantized
// file is standard ONNX.
//
//   ConvAddRelu(x, w, b, r)  ->  c = Conv(x, w, b)   a = Add(c, r)   y = Relu(a)
// The last operator keeps the name of the output value. The first keeps the node's name, the others
// get it with _add or _activation behind it. Inner values are called after the output with _linear
// and _add behind it.
#pragma once

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` without fused operators; nodes of Assay's domain that are not fused linear
/// operators stay.
Graph unfuse(const Graph& g);

}  // namespace assay
