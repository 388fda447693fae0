#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::test::dequantize_linear_test {
namespace {

std::vector<float> dequantize(const Tensor& x, const Tensor& scale, const Tensor& zero,
                              Attributes a = {}) {
  return floats(run_op("DequantizeLinear", {x, scale, zero}, a)[0]);
}

TEST(DequantizeLinear, S23_DifferenceIsWide) {
  EXPECT_EQ(dequantize(u8({1}, {3}), f32({}, {1}), u8({}, {5})), std::vector<float>{-2});
  EXPECT_EQ(dequantize(i8({2}, {-128, 127}), f32({}, {1}), i8({}, {127})),
            (std::vector<float>{-255, 0}));
}

TEST(DequantizeLinear, PerAxis) {
  EXPECT_EQ(dequantize(i8({2, 2}, {1, 2, 3, 4}), f32({2}, {0.5F, 2}), i8({2}, {0, 1})),
            (std::vector<float>{0.5F, 2, 1.5F, 6}));
}

// 2147483647 * 0.1f = 214748367.9...; in float32 steps of 16 around there the nearest is 214748368.
// 16777217 * (1 + 2^-23) = 16777219.0000001...: a tie at 16777219 broken upward by the last bits
// (float32 steps of 2), which two roundings would lose on larger products.
TEST(DequantizeLinear, Int32IsRoundedOnce) {
  EXPECT_EQ(dequantize(i32({1}, {2147483647}), f32({}, {0.1F}), Tensor())[0], 214748368.0F);
  EXPECT_EQ(dequantize(i32({1}, {16777217}), f32({}, {0x1.000002p0F}), Tensor())[0], 16777220.0F);
}

// Exact product (2^31 - 1)(2^23 + 1) 2^-23 against the same in 64-bit integers.
TEST(DequantizeLinear, AgreesWithWideIntegers) {
  for (const std::int32_t code : {2147483647, 2147483585, 2013265919, -2147483647, 1073741889}) {
    for (const std::int32_t mantissa : {8388609, 16777215, 12582913, 11184811}) {
      const float scale = std::ldexp(static_cast<float>(mantissa), -30);
      const std::int64_t product = static_cast<std::int64_t>(code) * mantissa;
      std::int64_t magnitude = product < 0 ? -product : product;
      int shift = 0;
      while ((magnitude >> shift) >= (1 << 24)) ++shift;
      const std::int64_t rest = magnitude & ((static_cast<std::int64_t>(1) << shift) - 1);
      const std::int64_t half = static_cast<std::int64_t>(1) << (shift - 1);
      std::int64_t kept = magnitude >> shift;
      if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
      const float want =
          std::ldexp(static_cast<float>(static_cast<std::int64_t>(kept)), shift - 30);
      EXPECT_EQ(dequantize(i32({1}, {code}), f32({}, {scale}), Tensor())[0],
                product < 0 ? -want : want);
    }
  }
}

}  // namespace
}  // namespace assay::test::dequantize_linear_test
