#include "validation/bench/samples.h"

#include <gtest/gtest.h>

namespace assay::bench::samples_test {
namespace {

TEST(LatencySamples, QuantilesInterpolate) {
  // 1..5: the median is 3; 90 % lies at index 3.6, that is 4.6.
  const LatencySummary s = summarize({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.p90, 4.6);
  EXPECT_DOUBLE_EQ(s.mean, 3);
}

TEST(LatencySamples, FewSamplesGiveTheWholeRange) {
  const LatencySummary s = summarize({2, 9, 4});
  EXPECT_DOUBLE_EQ(s.low, 2);
  EXPECT_DOUBLE_EQ(s.high, 9);
}

// n = 20: P(X < 6) = 21700 / 2^20 = 0.0207, P(X < 7) = 0.0577, so the interval is [x_(6), x_(15)]
// (a textbook table entry).
TEST(LatencySamples, IntervalOfTwentyIsSixthToFifteenth) {
  std::vector<double> v;
  for (int i = 1; i <= 20; ++i) v.push_back(i);
  const LatencySummary s = summarize(v);
  EXPECT_DOUBLE_EQ(s.low, 6);
  EXPECT_DOUBLE_EQ(s.high, 15);
}

TEST(LatencySamples, RegressionNeedsMoreThanNoise) {
  LatencySummary before{.samples = 9, .median = 10, .low = 9.9, .high = 10.1};
  LatencySummary now = before;
  now.median = 10.6;  // 6 % against 5 % + 1 % + 0.94 %
  EXPECT_FALSE(compare_latency(now, before, 0.05).slower);
  now.median = 10.8;
  EXPECT_TRUE(compare_latency(now, before, 0.05).slower);
}

}  // namespace
}  // namespace assay::bench::samples_test
