// What must hold of a fused graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fusion/pipeline.h"
#include "tests/random_graphs/generator.h"

namespace assay::testing {

/// What was seen, for the closing line of a run.
struct Counts {
  std::int64_t graphs = 0;
  std::int64_t fused = 0;      ///< graph and set pairs that changed
  std::int64_t instances = 0;  ///< certificates
  std::map<std::string, std::int64_t> verdicts = {};
  std::map<std::string, std::int64_t> fired = {};
  std::map<std::string, std::int64_t> declined = {};
  std::int64_t faults = 0;
  std::int64_t caught = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_fault = {};  ///< injected, caught

  void merge(const Counts& o);
};

std::string to_string(const Counts& counts);

/// Checks one set on one graph; what is wrong, one line each:
///   * the fused graph is consistent, is written, read again, and gives the same bits afterwards;
///   * every rewritten region has a certificate E0, E1 or E2 (E3 for the one rule that changes a
///     quantization), and nothing is left unjudged;
///   * the whole graph agrees with the original inside both certified radii;
///   * the order of the rules, reversed and shuffled, does not change the outcome.
std::vector<std::string> check(const RandomGraph& r, const std::string& mode, Counts& counts,
                               bool certificates = true);

/// The named sets and one rule, drawn by the seed.
std::vector<std::string> sets_for(const RandomGraph& r);

}  // namespace assay::testing
