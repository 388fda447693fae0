// AveragePool and GlobalAveragePool: divisors (public cases S-07 b, e and S-34), ceil_mode, correct
// rounding, radius.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/numeric/exact_accumulator.h"
#include "tests/support/op_call.h"

namespace assay::test::average_pool_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(AveragePool, CountsPaddingOnRequest) {
  const Tensor x = tensor({1, 1, 2, 2}, {1, 1, 1, 1});
  const Attributes a{{"kernel_shape", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}};
  EXPECT_EQ(values(run_one({"AveragePool", {x}, a})), (Floats{1, 1, 1, 1}));
  Attributes counted = a;
  counted.set("count_include_pad", std::int64_t{1});
  EXPECT_EQ(values(run_one({"AveragePool", {x}, counted})), (Floats{1, 0.5F, 0.5F, 0.25F}));
}

// The last window of ceil_mode reaches past the padding; those taps never count.
TEST(AveragePool, CeilModeDivisor) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4});
  const Attributes a{{"kernel_shape", Ints{3}},
                     {"strides", Ints{2}},
                     {"ceil_mode", std::int64_t{1}},
                     {"count_include_pad", std::int64_t{1}}};
  EXPECT_EQ(values(run_one({"AveragePool", {x}, a, 19})), (Floats{2, 3.5F}));
}

TEST(AveragePool, Dilation) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(values(run_one(
                {"AveragePool", {x}, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}, 19})),
            (Floats{2, 3}));
}

TEST(AveragePool, CorrectRoundingOfTheQuotient) {
  const Tensor x = random_tensor({1, 4, 9, 9}, -1, 1, 21);
  const Tensor y = run_one({"AveragePool", {x}, {{"kernel_shape", Ints{3, 3}}}});
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    FloatAccumulator sum;
    for (std::int64_t k = 0; k < 9; ++k)
      sum.add(double{x.data<float>()[static_cast<std::size_t>((i / 49 * 9 + i / 7 % 7 + k / 3) * 9 +
                                                              i % 7 + k % 3)]});
    ASSERT_EQ(y.data<float>()[static_cast<std::size_t>(i)], sum.round_quotient_to_float(9)) << i;
  }
}

// (1 + (1 + 2^-23)) / 2 is the midpoint of two floats: to even, 1.
TEST(AveragePool, TrueMidpointGoesToEven) {
  const Tensor x = tensor({1, 1, 3}, {1.0F, 0x1.000002p0F, 0x1.000004p0F});
  EXPECT_EQ(values(run_one({"AveragePool", {x}, {{"kernel_shape", Ints{2}}}})),
            (Floats{1.0F, 0x1.000004p0F}));
}

TEST(AveragePool, RadiusHolds) {
  const Tensor x = random_tensor({1, 8, 20, 20}, -1, 1, 5);
  const double use = radius_use({"AveragePool", {x}, {{"kernel_shape", Ints{5, 5}}}});
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

TEST(GlobalAveragePool, MeanOfEachImage) {
  const Tensor x = tensor({2, 1, 1, 2}, {1, 2, -5, -4});
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call{"GlobalAveragePool", {x}};
    call.precision = p;
    EXPECT_EQ(values(run_one(call)), (Floats{1.5F, -4.5F})) << to_string(p);
  }
}

// Public case S-37: exact 0.5; float32 from left to right gives 0.25, two halves 0.
TEST(GlobalAveragePool, SumIsExact) {
  EXPECT_EQ(values(run_one({"GlobalAveragePool", {tensor({1, 1, 4}, {1e8F, 1, -1e8F, 1})}})),
            (Floats{0.5F}));
}

TEST(GlobalAveragePool, MeanOfNothingIsNaN) {
  const auto y = values(run_one({"GlobalAveragePool", {tensor({1, 1, 0, 3}, {})}}));
  EXPECT_EQ(bits(y[0]), 0x7FC00000U);
}

TEST(GlobalAveragePool, RadiusHolds) {
  const double use = radius_use({"GlobalAveragePool", {random_tensor({4, 8, 7, 7}, -1, 1, 6)}});
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

}  // namespace
}  // namespace assay::test::average_pool_test
