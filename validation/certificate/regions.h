// Regions: which part of the original stands against which part of the fused graph
// (docs/certificates.md, "Region").
//
// Values are aligned by name. Every node of the fused graph that the original does not have as it
// stands belongs to the region of the next aligned value behind it; the region of the original
// reaches from that value back to the same inputs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fusion/rewrite_log.h"
#include "runtime/graph.h"

namespace assay {

struct Region {
  std::string output;
  std::vector<std::string> inputs;  ///< aligned values that enter it, in both graphs
  /// Inputs that the original computes from other inputs of the region: they are not free, and hold
  /// the rounding of what lies between.
  std::set<std::string> dependent = {};
  Graph original, fused;  ///< graphs of their own, fused operators written out in `plain`
  /// The original as Assay's rules read its computed constants (reading.h); for another tool's file
  /// the original as it is.
  Graph read = {};
  Graph plain;  ///< `fused` with the fused operators of Assay's domain as standard operators
  std::vector<std::string> nodes;  ///< names of the original's nodes
  std::vector<std::string> fused_nodes;
  std::vector<NodeId> fused_ids = {};  ///< the same nodes in the fused graph
  std::string
      rule;  ///< rules of the log that made it, joined by " + "; empty for another tool's file
};

struct Alignment {
  std::vector<Region> regions;
  std::int64_t unchanged = 0;  ///< nodes of the fused graph that are the original's as they stand
  std::int64_t changed = 0;    ///< nodes of the fused graph inside regions
  std::vector<std::string> unaligned =
      {};  ///< "node: reason" of fused nodes that no region could take
};

Alignment align(const Graph& original, const Graph& fused, const RewriteLog* log);

}  // namespace assay
