#include "quant/params.h"

#include <gtest/gtest.h>

namespace assay::params_test {
namespace {

std::int64_t code(float x, const QuantParams& p) {
  return quantize_value(x, p.scale, p.zero_point, p.range());
}
float back(float x, const QuantParams& p) {
  return dequantize_value(code(x, p), p.zero_point, p.scale);
}

TEST(Params, S25_RangeWithoutZero) {
  const QuantParams above = activation_params({1, 3}, ActivationScheme::u8);
  EXPECT_EQ(above.scale, 3.0F / 255);
  EXPECT_EQ(above.zero_point, 0);
  EXPECT_EQ(code(1, above), 85);
  EXPECT_EQ(code(3, above), 255);
  EXPECT_FLOAT_EQ(back(3, above), 3);
  const QuantParams below = activation_params({-3, -1}, ActivationScheme::u8);
  EXPECT_EQ(below.zero_point, 255);
  EXPECT_FLOAT_EQ(back(-3, below), -3);
  const QuantParams two = activation_params({2, 2}, ActivationScheme::u8);
  EXPECT_GT(two.scale, 0);
  EXPECT_EQ(back(2, two), 2);
  const QuantParams nothing = activation_params({0, 0}, ActivationScheme::u8);
  EXPECT_GT(nothing.scale, 0);
  EXPECT_EQ(back(0, nothing), 0);
}

TEST(Params, ZeroIsExactInEveryScheme) {
  for (const auto scheme : {ActivationScheme::u8, ActivationScheme::s8, ActivationScheme::mixed}) {
    for (const Range r :
         {Range{-1, 1}, {-0.1F, 7.3F}, {0, 6}, {-5, 0}, {1e-38F, 1e-38F}, {-3e38F, 3e38F}}) {
      const QuantParams p = activation_params(r, scheme);
      EXPECT_GT(p.scale, 0);
      EXPECT_TRUE(std::isfinite(p.scale));
      EXPECT_EQ(back(0, p), 0);
      EXPECT_GE(p.zero_point, p.range().lo);
      EXPECT_LE(p.zero_point, p.range().hi);
    }
  }
}

TEST(Params, MixedPrefersZeroPointZero) {
  EXPECT_EQ(activation_params({0, 6}, ActivationScheme::mixed),
            (QuantParams{DType::uint8, 6.0F / 255, 0}));
  EXPECT_EQ(activation_params({-2, 6}, ActivationScheme::mixed),
            (QuantParams{DType::int8, 6.0F / 127, 0}));
}

TEST(Params, S17_DeadChannels) {
  EXPECT_EQ(weight_scale(0), 0.0F);
  EXPECT_EQ(weight_scale(1e-40F), 0.0F);
  EXPECT_EQ(weight_scale(1.27F), 1.27F / 127);
}

}  // namespace
}  // namespace assay::params_test
