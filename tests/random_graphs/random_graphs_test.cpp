// A short run over random graphs; CONTRIBUTING.md has the command of the long one.
#include <gtest/gtest.h>

#include "runtime/numeric/parallel.h"
#include "tests/random_graphs/faults.h"
#include "tests/random_graphs/properties.h"

namespace assay::testing::random_graphs_test {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

TEST(RandomGraphs, EverySetKeepsTheFunction) {
  set_num_threads(1);  // the graphs are tiny
  Counts counts;
  std::vector<std::string> doubtful;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomGraph r = random_graph(seed);
    ++counts.graphs;
    for (const std::string& mode : sets_for(r)) {
      const auto troubles = check(r, mode, counts, &doubtful);
      EXPECT_TRUE(troubles.empty()) << "seed " << seed << ", set " << mode << joined(troubles);
    }
  }
  // The run proves something only if it rewrites a lot.
  EXPECT_GT(counts.fused, 120) << to_string(counts);
  // A correct rewrite is proved.
  EXPECT_EQ(counts.undecided + counts.alarms, 0) << joined(doubtful);
}

TEST(RandomGraphs, FaultsOfRulesAreCaught) {
  set_num_threads(1);
  Counts counts;
  std::string missed;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    std::string text;
    const auto caught = fault_is_caught(random_graph(seed), seed, counts, text);
    if (caught && !*caught) missed += "\n  seed " + std::to_string(seed) + ": " + text;
  }
  EXPECT_GE(counts.faults, 80);
  EXPECT_GE(counts.by_fault.size(), 15U);
  EXPECT_EQ(counts.caught, counts.faults) << missed;
}

TEST(RandomGraphs, SameSeedSameGraph) {
  const RandomGraph a = random_graph(7);
  const RandomGraph b = random_graph(7);
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    for (const auto& [name, t] : a.samples[i]) EXPECT_TRUE(same_bits(t, b.samples[i].at(name)));
  }
}

}  // namespace
}  // namespace assay::testing::random_graphs_test
