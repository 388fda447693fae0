// Expected codes are computed by hand, or with exact fractions where a comment says so.
#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

#include "runtime/integer_stats.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::quantize_linear_test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using Codes = std::vector<std::int64_t>;

Codes quantize(const Tensor& x, const Tensor& scale, const Tensor& zero, Attributes a = {},
               std::int64_t opset = 13) {
  return codes(run_op("QuantizeLinear", {x, scale, zero}, a, opset)[0]);
}

TEST(QuantizeLinear, S20_TiesGoToEven) {
  const Tensor half = f32({}, {0.5F});
  EXPECT_EQ(quantize(f32({4}, {0.25F, 0.75F, 1.25F, 1.75F}), half, u8({}, {0})),
            (Codes{0, 2, 2, 4}));
  EXPECT_EQ(quantize(f32({4}, {-0.25F, -0.75F, -1.25F, -1.75F}), half, i8({}, {0})),
            (Codes{0, -2, -2, -4}));
  // The zero point is added after rounding: 2.5 -> 2 -> 3, 3.5 -> 4 -> 5.
  EXPECT_EQ(quantize(f32({2}, {2.5F, 3.5F}), f32({}, {1}), u8({}, {1})), (Codes{3, 5}));
}

TEST(QuantizeLinear, S20_HalfPrecisionInput) {
  const Tensor x = Tensor::of<Half>({2}, {Half(0.050018310546875), Half(-0.050018310546875)});
  const Tensor scale = Tensor::scalar(Half(0.0999755859375));
  EXPECT_EQ(quantize(x, scale, i8({}, {0}), {}, 19), (Codes{1, -1}));
}

TEST(QuantizeLinear, S20_RoundingModeOfTheThreadPlaysNoPart) {
  const Tensor x = f32({6}, {0.25F, 0.75F, 1.25F, -0.25F, -0.75F, 0.3F});
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Codes got = quantize(x, f32({}, {0.5F}), i8({}, {0}));
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, (Codes{0, 2, 2, 0, -2, 1})) << mode;
  }
}

TEST(QuantizeLinear, S24_NanInfinityAndHugeValues) {
  const Tensor x = f32({7}, {nan, inf, -inf, 1e30F, -1e30F, 12.4F, 12.45F});
  IntegerStats stats;
  {
    const CollectIntegerStats scope(stats);
    EXPECT_EQ(quantize(x, f32({}, {0.1F}), i8({}, {3})),
              (Codes{3, 127, -128, 127, -128, 127, 127}));
  }
  const IntegerCounts counts = stats.by_node().at("out0_node");
  EXPECT_EQ(counts.nan, 1);
  EXPECT_EQ(counts.elements, 7);
  EXPECT_EQ(counts.saturated_low, 2);
  EXPECT_EQ(counts.saturated_high, 2);  // 12.45 / 0.1 + 3 = 127.49..., not saturated
}

// 0.7f = 11744051 / 2^24 and 0.2f = 13421773 / 2^26: the real quotient 3.49999989 gives 3. Rounded
// to float32 first it is 3.5, a tie that goes to 4.
TEST(QuantizeLinear, QuotientIsReal) {
  EXPECT_EQ(0.7F / 0.2F, 3.5F);
  EXPECT_EQ(quantize(f32({1}, {0.7F}), f32({}, {0.2F}), u8({}, {0})), (Codes{3}));
}

TEST(QuantizeLinear, PerAxisAndBlocked) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 1, 2, 3});
  EXPECT_EQ(quantize(x, f32({2}, {1, 0.5F}), i8({2}, {0, 1}), {{"axis", std::int64_t{0}}}),
            (Codes{1, 2, 3, 3, 5, 7}));
  EXPECT_EQ(quantize(x, f32({3}, {1, 2, 3}), i8({3}, {0, 0, 0}), {{"axis", std::int64_t{-1}}}),
            (Codes{1, 1, 1, 1, 1, 1}));
  // Blocks of two along axis 1: columns 0-1 share a scale, column 2 has its own.
  EXPECT_EQ(quantize(x, f32({2, 2}, {1, 3, 0.5F, 1.5F}), i8({2, 2}, {0, 0, 0, 0}),
                     {{"axis", std::int64_t{1}}, {"block_size", std::int64_t{2}}}, 21),
            (Codes{1, 2, 1, 2, 4, 2}));
}

TEST(QuantizeLinear, SixteenBitsAndOutputType) {
  const Tensor x = f32({2}, {-40000, 300});
  EXPECT_EQ(quantize(x, f32({}, {1}), Tensor::scalar<std::int16_t>(0), {}, 21),
            (Codes{-32768, 300}));
  const Tensor stated = run_op("QuantizeLinear", {f32({1}, {-3}), f32({}, {1})},
                               {{"output_dtype", std::int64_t{3}}}, 21)[0];
  EXPECT_EQ(stated.dtype(), DType::int8);
  EXPECT_EQ(codes(stated), (Codes{-3}));
}

TEST(QuantizeLinear, RefusesScalesThatAreNotPositive) {
  for (const float bad : {0.0F, -1.0F, inf, nan}) {
    EXPECT_THROW(quantize(f32({1}, {1}), f32({}, {bad}), u8({}, {0})), Error) << bad;
  }
  EXPECT_THROW(quantize(f32({2}, {1, 2}), f32({3}, {1, 1, 1}), u8({3}, {0, 0, 0}), {}), Error);
}

TEST(QuantizeLinear, EmptyTensor) {
  EXPECT_EQ(quantize(f32({0, 2}, {}), f32({}, {1}), u8({}, {0})), Codes{});
}

}  // namespace
}  // namespace assay::test::quantize_linear_test
