// Graphs of other tools in standard operators, so that they can be compared (docs/certificates.md,
// "Region").
//
//   com.microsoft FusedConv, FusedGemm   ->  Conv / Gemm, Add, activation
//   com.microsoft FusedMatMul            ->  Transpose, MatMul, Mul
//   com.microsoft QuickGelu              ->  Mul, Sigmoid, Mul
//   com.microsoft.nchwc                  ->  plain NCHW: filters unblocked, padding channels cut
//   off, Reorder nodes dropped
// and nodes on constants are evaluated. Blocked values keep their names but become plain tensors.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runtime/graph.h"

namespace assay {

/// Values whose shapes standardize() has to be told.
std::set<std::string> shapes_needed(const Graph& g);
/// `shapes`: of those values, by name. Throws Error for a node of these domains that has no
/// standard form.
Graph standardize(const Graph& g, const std::map<std::string, Shape>& shapes);

}  // namespace assay
