// When two nodes are the same operator.
#pragma once

#include "runtime/graph.h"

namespace assay {

/// Same operator and domain; attributes equal, where defaults may be spelled out on one side.
bool same_operator(const Node& p, const Node& q);
/// Which output of `n` is `v`.
std::size_t output_index(const Node& n, ValueId v);
/// Add and Mul of two operands: correctly rounded, so their order changes no bit.
bool commutes(const Node& n);

}  // namespace assay
