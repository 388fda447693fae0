// Elementwise loops in blocks: every length, in place, and the code rounding made for them.
#include "runtime/numeric/block_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/numeric/finite.h"
#include "runtime/numeric/quantize.h"

namespace assay::block_map_test {
namespace {

TEST(BlockMap, ReachesEveryElementOnce) {
  for (const std::int64_t n : {0, 1, 63, 64, 65, 128, 200, 40000}) {
    std::vector<float> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1.0F);
    std::vector<std::int32_t> y(x.size(), -1);
    map_all(x.data(), y.data(), n, [](float v) { return static_cast<std::int32_t>(2 * v); });
    map_all(x.data(), x.data(), x.data(), n, [](float a, float b) { return a + b + 1; });
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(y[static_cast<std::size_t>(i)], 2 * (i + 1));
      ASSERT_EQ(x[static_cast<std::size_t>(i)], static_cast<float>(2 * (i + 1) + 1));
    }
  }
}

// By hand: halves to even before the zero point is added, saturation, NaN to the zero point.
TEST(SmallCodes, RoundsHalvesToEvenAndSaturates) {
  const SmallCodes u8(3, {0, 255});
  EXPECT_EQ(u8(0.5), 3);
  EXPECT_EQ(u8(1.5), 5);
  EXPECT_EQ(u8(2.5), 5);
  EXPECT_EQ(u8(-0.5), 3);
  EXPECT_EQ(u8(-1.5), 1);
  EXPECT_EQ(u8(-2.5), 1);
  EXPECT_EQ(u8(251.5), 255);
  EXPECT_EQ(u8(252.49), 255);
  EXPECT_EQ(u8(1e300), 255);
  EXPECT_EQ(u8(-INFINITY), 0);
  EXPECT_EQ(u8(NAN), 3);
  const SmallCodes s8(-7, {-128, 127});
  EXPECT_EQ(s8(-121.5), -128);  // -122 - 7 saturates
  EXPECT_EQ(s8(-120.5), -127);  // -120 - 7
  EXPECT_EQ(s8(133.5), 127);    // 134 - 7
  EXPECT_EQ(s8(132.5), 125);    // 132 - 7
}

TEST(Finite, FindsTheFirstOddValueInAndBehindTheBlocks) {
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{130}}) {
    for (const float odd : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> x(131, 3e38F);
      EXPECT_FALSE(first_not_finite(std::span<const float>(x)));
      x[at] = odd;
      x[130] = odd;
      EXPECT_EQ(first_not_finite(std::span<const float>(x)), at);
    }
  }
}

}  // namespace
}  // namespace assay::block_map_test
