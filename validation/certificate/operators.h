// When two nodes are the same operator.
#pragma once

#include "runtime/graph.h"

namespace assay {

/// Same operator and domain; attributes equal, where defaults may be spelled out on one side.
bool same_operator(const Node& p, const Node& q);
/// Input `i` is a bound of a Clip that is absent or beyond every float32 number.
bool clips_nothing(const Graph& g, const Node& n, std::size_t i);
/// Which output of `n` is `v`.
std::size_t output_index(const Node& n, ValueId v);
/// Add and Mul of two operands: correctly rounded, so their order changes no bit.
bool commutes(const Node& n);

}  // namespace assay
