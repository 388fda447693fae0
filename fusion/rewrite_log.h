// RewriteLog: what a pipeline did to a graph, and what it would not do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// A node as it was named when it was removed or made.
struct NodeNote {
  std::string name;
  std::string op_type;
  std::string output;  ///< its first output value
};

struct FiredRewrite {
  std::string rule;
  std::string stage;
  std::string verdict;                    ///< the best certificate this rule can get
  std::vector<std::string> proof = {};         ///< proof obligations it declares
  std::vector<std::string> rows = {};          ///< vendor rows
  std::vector<NodeNote> removed = {};          ///< nodes of the region, root first
  std::vector<NodeNote> made = {};
  std::vector<std::string> inputs = {};        ///< values that enter the region (initializers left out)
  std::string output = {};                ///< root output value; keeps its name
  std::vector<std::string> constants = {};     ///< initializers made
  /// Values that nodes compute from constants and of which the rule took the formula, not the stored number.
  std::vector<std::string> formulas = {};
  std::vector<std::string> vanished = {};      ///< values that no longer exist
};

struct DeclinedRewrite {
  std::string rule;
  std::string stage;
  NodeNote node;       ///< root of the near-match
  std::string reason;  ///< the condition that failed, with its values
  std::string edit;    ///< the smallest edit that would make it pass
};

struct RewriteLog {
  std::string mode;
  std::vector<std::string> skip;
  std::vector<FiredRewrite> fired;
  std::vector<DeclinedRewrite> declined;
  std::vector<std::string> notes;  ///< what was not looked at (subgraphs) or could not be known
  std::int64_t nodes_before = 0;
  std::int64_t nodes_after = 0;

  std::int64_t count(const std::string& rule) const;
};

/// Several lines of text, for people.
std::string explain(const RewriteLog& log);
/// The same as JSON text ("schema": "assay-rewrites/1").
std::string to_json(const RewriteLog& log);

}  // namespace assay
