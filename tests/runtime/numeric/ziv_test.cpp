// The rounding test itself: soundness on intervals around every kind of boundary, and that it is
// not empty.

#include "runtime/numeric/ziv.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::ziv_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class Out>
std::optional<Out> certain(double y, double error) {
  return round_if_certain<Out>(y, ProvedRadius{error});
}
std::optional<double> certain(const dd& y, double error) {
  return round_if_certain(y, ProvedRadius{error});
}

TEST(Ziv, DecidesAwayFromMidpoints) {
  EXPECT_EQ(certain<float>(1.0, 0x1p-30), 1.0F);
  EXPECT_EQ(certain<float>(1.0 + 0x1p-24 + 0x1p-40, 0x1p-41), 1.0F + 0x1p-23F);
  EXPECT_FALSE(certain<float>(1.0 + 0x1p-24 + 0x1p-40, 0x1p-40));
  EXPECT_FALSE(certain<float>(1.0 + 0x1p-24, 0.0));
  EXPECT_TRUE(certain<Half>(1.0 + 0x1p-24, 0x1p-30));
  EXPECT_FALSE(certain<Half>(1.0 + 0x1p-11, 0x1p-30));
  EXPECT_FALSE(certain<BFloat16>(1.0 + 0x1p-8, 0x1p-30));
}

TEST(Ziv, OverflowSubnormalsAndZero) {
  const double threshold = 0x1.ffffffp+127;  // halfway between the largest float and 2^128
  EXPECT_EQ(certain<float>(threshold * (1 + 0x1p-40), threshold * 0x1p-42),
            std::numeric_limits<float>::infinity());
  EXPECT_FALSE(certain<float>(threshold, threshold * 0x1p-45));
  EXPECT_EQ(certain<float>(kInf, 1.0), std::nullopt);
  EXPECT_EQ(certain<float>(0x1.8p-149, 0x1p-152), std::nullopt);
  EXPECT_EQ(certain<float>(0x1.9p-149, 0x1p-154), 0x1p-148F);
  EXPECT_EQ(certain<float>(0x1p-152, 0x1p-153), 0.0F);
  EXPECT_FALSE(certain<float>(0x1p-160, 0x1p-159));  // the sign of the zero is open
  EXPECT_FALSE(certain<float>(std::nan(""), 1.0));
  EXPECT_FALSE(certain<float>(1.0, std::nan("")));
  EXPECT_FALSE(certain<float>(1.0, kInf));
}

// Any point of the interval must round to the answer.
TEST(Ziv, NeverWrong) {
  std::mt19937_64 rng(1);
  int decided = 0;
  for (int i = 0; i < 300000; ++i) {
    const float base = std::bit_cast<float>(static_cast<std::uint32_t>(rng() % 0x7F000000));
    const double next = std::nextafter(base, std::numeric_limits<float>::infinity());
    const double middle = (static_cast<double>(base) + next) / 2;
    const double error = middle * std::ldexp(1.0, -static_cast<int>(rng() % 20) - 34);
    const double y = middle + error * (static_cast<double>(rng() % 4001) / 1000 - 2);
    const double offset = y - middle;  // exact: they are neighbours
    const auto rounded = certain<float>(y, error);
    if (!rounded) continue;
    ++decided;
    const bool above = offset > 0;
    ASSERT_EQ(*rounded, above ? static_cast<float>(next) : base);
    ASSERT_GE(std::fabs(offset), error);
  }
  EXPECT_GT(decided, 50000);
}

TEST(Ziv, DoubleDouble) {
  EXPECT_EQ(certain(dd(1.0, 0x1p-60), 0x1p-80), 1.0);
  EXPECT_FALSE(certain(dd(1.0, 0x1p-53), 0x1p-90));
  EXPECT_EQ(certain(dd(1.0, 0x1p-53) + 0x1p-80, 0x1p-82), 1.0 + 0x1p-52);
}

TEST(Ziv, RoundToOddKeepsTheSide) {
  const double tie = 1.0 + 0x1p-24;
  EXPECT_EQ(round_tailed<float>({.value = tie, .tail = 1}), 1.0F + 0x1p-23F);
  EXPECT_EQ(round_tailed<float>({.value = tie, .tail = -1}), 1.0F);
  EXPECT_EQ(round_tailed<float>({.value = tie}), 1.0F);
  EXPECT_EQ(round_tailed<float>({.value = -tie, .tail = -1}), -1.0F - 0x1p-23F);
  EXPECT_EQ(round_tailed<float>({.value = 0.0, .tail = -1}), -0.0F);
  EXPECT_TRUE(std::signbit(round_tailed<float>({.value = 0.0, .tail = -1})));
  EXPECT_EQ(round_tailed<double>({.value = tie, .tail = 1}), tie);
}

}  // namespace
}  // namespace assay::ziv_test
