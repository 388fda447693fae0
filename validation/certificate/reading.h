// How Assay's rules read constants that nodes compute.
//
// An original that computes a constant with nodes, say γ/√(v+ε), defines two numbers: the formula's
// exact value, and the value that its float32 nodes leave. Both are the original's. A rule that
// recognizes the formula takes the former, every other one takes the stored number; in one region
// some may do this and some that. The log tells which (FiredRewrite::formulas).
#pragma once

#include "fusion/rewrite_log.h"
#include "runtime/graph.h"

namespace assay {

/// `original`, a part of the graph that the log speaks of, with every constant that nodes compute
/// as a stored number, except where a rule took its formula.
Graph as_rules_read(const Graph& original, const RewriteLog& log);

}  // namespace assay
