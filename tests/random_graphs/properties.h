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
  std::int64_t undecided = 0;  ///< certificates U
  std::int64_t alarms = 0;  ///< certificates E4, E5, or E3 of another rule, on graphs without fault
  std::map<std::string, std::int64_t> verdicts = {};
  std::map<std::string, std::int64_t> fired = {};
  std::map<std::string, std::int64_t> declined = {};
  std::int64_t faults = 0;
  std::int64_t caught = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_fault = {};  ///< injected, caught

  void merge(const Counts& o);
};

std::string to_string(const Counts& counts);

/// What is wrong with one set on one graph, one line each. Wrong is:
///   * the fused graph is not consistent, or not the same bits after it was written and read again;
///   * the fused graph leaves the original by more than both certified radii;
///   * the order of the rules, reversed or shuffled, changes the outcome.
/// Certificates are counted by verdict; `doubtful` receives those that a correct rewrite should not
/// get: U, E4, E5, and E3 where no quantizer was removed.
std::vector<std::string> check(const RandomGraph& r, const std::string& mode, Counts& counts,
                               std::vector<std::string>* doubtful = nullptr);

/// What certificates speak of: float32 graphs whose values are finite.
bool in_domain(const RandomGraph& r);

/// The named sets and one rule, drawn by the seed.
std::vector<std::string> sets_for(const RandomGraph& r);

}  // namespace assay::testing
