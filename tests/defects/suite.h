// Seeded defects: what is changed, and how a case is judged. defects.json holds the expected
// verdict of each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fusion/rewrite_log.h"
#include "runtime/executor.h"

namespace assay::defects {

/// One graph with one defect.
struct Case {
  std::string graph;  ///< name of the network that carries it
  Graph original, fused;
  std::optional<RewriteLog> log = {};  ///< set: the fused graph counts as Assay's own
  Feeds input;
};

/// A kind of defect and the cases it makes from a seed.
struct Kind {
  std::string name;
  std::string
      scope;  ///< "file": another tool's file; "rule": Assay's own rule, fold code or result
  std::function<std::vector<Case>(std::uint64_t seed)> cases;
};

/// The kinds, one list per source file.
std::vector<Kind> constant_kinds();   ///< wrong numbers in a file
std::vector<Kind> text_kinds();       ///< wrong operators behind the fold
std::vector<Kind> structure_kinds();  ///< pairs of graphs that are no rewrites of each other
std::vector<Kind> special_kinds();    ///< what only special values show
std::vector<Kind> rule_kinds();       ///< mutated rules and mutated results of rules

struct Judgement {
  std::string verdict;  ///< the worst; "none" when no difference was seen
  std::string report;   ///< the certificates as JSON
};
Judgement judge(const Case& c);

}  // namespace assay::defects
