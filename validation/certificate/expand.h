// Composite operators as the small ones that define them, so that a fused operator and the nodes it
// replaced are compared node by node.
//
//   LayerNormalization(x; w, b)  ->  d = x - mean(x);  d / sqrt(mean(d*d) + epsilon) * w + b
//   HardSwish(x)                 ->  x * Clip(x + 3, 0, 6) / 6
//   Pow(x, 2)                    ->  x * x
//   DequantizeLinear(QuantizeLinear(d)) of a d with the same scale and zero point  ->  d
//   Concat of a Conv per part of a Split, all alike  ->  Conv with groups
//   Conv(Pad(x; 0))              ->  Conv with pads
//   AveragePool(Pad(x; 0))       ->  AveragePool with pads that count
//   MaxPool(Pad(x; -inf))        ->  MaxPool with pads
// and ReduceMean's axes counted from the end. Weights are put together, never computed.
#pragma once

#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// A copy of `g` with these operators written out. `shapes`: of the values, by name; those of new
/// values are added. A node whose input's shape is not known stays.
Graph expand_composites(const Graph& g, std::map<std::string, Shape>& shapes);

/// Concat of a Conv per part of a Split, all alike and all with a bias or none, as one Conv with
/// groups: the same sums. (A zero in the place of a missing bias turns a sum of nothing but -0
/// into +0.)
Graph join_equal_branches(const Graph& g);

}  // namespace assay
