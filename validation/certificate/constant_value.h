// Constants of a graph as real numbers, also those that nodes compute from constants.
//
// An original that spells a batch normalization in small operators computes g / sqrt(v + e) with
// nodes; the exact value of that expression is what a fold has to match.
#pragma once

#include <optional>
#include <vector>

#include "runtime/graph.h"
#include "validation/certificate/real.h"

namespace assay {

struct RealTensor {
  Shape shape;
  std::vector<Real> values;
  bool stored = true;  ///< an initializer as it stands, not an expression
};

/// The value of `v`: an initializer, or Add, Sub, Mul, Div, Sqrt, Reciprocal, Neg, Reshape and Pow
/// (exponents -1, -1/2, 1/2, 2) of such. nullopt for anything else.
std::optional<RealTensor> constant_value(const Graph& g, ValueId v);

}  // namespace assay
