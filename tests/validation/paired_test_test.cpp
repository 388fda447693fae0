// Literals: McNemar p from the binomial formula by hand; intervals from the cited formula evaluated
// by hand.
#include "validation/paired_test.h"

#include <gtest/gtest.h>

namespace assay::paired_test_test {
namespace {

TEST(PairedTest, NoDiscordantPairs) {
  const auto t = paired_test(1000, 0, 0);
  EXPECT_EQ(t.drop, 0);
  EXPECT_EQ(t.p_value, 1);
  EXPECT_GT(t.high, 0);  // nothing seen does not prove nothing there
}

TEST(PairedTest, ExactBinomial) {
  // (5, 0): 2 * (1/2)^5 = 0.0625
  EXPECT_DOUBLE_EQ(paired_test(100, 5, 0).p_value, 0.0625);
  // (6, 2): 2 * (C(8,0) + C(8,1) + C(8,2)) / 2^8 = 2 * 37 / 256
  EXPECT_DOUBLE_EQ(paired_test(100, 6, 2).p_value, 74.0 / 256);
  // (1, 1) is as even as it gets
  EXPECT_DOUBLE_EQ(paired_test(100, 1, 1).p_value, 1);
}

TEST(PairedTest, IntervalByHand) {
  // n = 1000, b = 12, c = 6: b' = 12.5, c' = 6.5, n' = 1002; center 6/1002 = 0.005988; se = sqrt(19
  // - 36/1002)/1002 = 0.0043460 1.959964 * se = 0.008518
  const auto t = paired_test(1000, 12, 6);
  EXPECT_DOUBLE_EQ(t.drop, 0.006);
  EXPECT_NEAR(t.low, 0.005988 - 0.008518, 2e-6);
  EXPECT_NEAR(t.high, 0.005988 + 0.008518, 2e-6);
}

TEST(PairedTest, ManyDiscordantPairsStayFinite) {
  EXPECT_NEAR(paired_test(100000, 6000, 5000).p_value, 0, 1e-10);
  EXPECT_NEAR(paired_test(100000, 5500, 5500).p_value, 1, 1e-12);
}

}  // namespace
}  // namespace assay::paired_test_test
