// Fused operators as graphs of standard operators, for the function that a written file carries.
#pragma once

#include "runtime/graph.h"

namespace assay::ops {

/// Inputs X, W, B (and R with Add) or A, B; output Y. Attributes keep the names of the fused
/// node's, so that the writer turns them into references (runtime/onnx/writer.h); constants named
/// `min` and `max` do the same for Clip, written as Max and Min, which every opset from 8 on has in
/// this form.
Graph decompose_fused(const Node& node);

}  // namespace assay::ops
