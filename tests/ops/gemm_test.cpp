// Gemm: transposes, the forms of C, alpha and beta, integers, exact oracle, errors, radius.
#include <gtest/gtest.h>

#include "runtime/numeric/exact_accumulator.h"
#include "tests/support/op_call.h"

namespace assay::test::gemm_test {
namespace {

using Floats = std::vector<float>;
const std::int64_t one = 1;

TEST(Gemm, TransposesAndAddends) {
  const Tensor a = tensor({2, 2}, {1, 2, 3, 4}), b = tensor({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(values(run_one({"Gemm", {a, b}})), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run_one({"Gemm", {a, b}, {{"transA", one}}})), (Floats{26, 30, 38, 44}));
  EXPECT_EQ(values(run_one({"Gemm", {a, b}, {{"transB", one}}})), (Floats{17, 23, 39, 53}));
  EXPECT_EQ(values(run_one({"Gemm", {a, b, tensor({2}, {1, -1})}})), (Floats{20, 21, 44, 49}));
  EXPECT_EQ(values(run_one({"Gemm", {a, b, tensor({2, 1}, {1, -1})}})), (Floats{20, 23, 42, 49}));
  EXPECT_EQ(values(run_one({"Gemm", {a, b, tensor({}, {1})}, {{"alpha", 2.0F}, {"beta", -3.0F}}})),
            (Floats{35, 41, 83, 97}));
}

TEST(Gemm, BetaZeroIgnoresC) {
  const Tensor a = tensor({1, 1}, {2}), b = tensor({1, 1}, {3});
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values(run_one({"Gemm", {a, b, tensor({1}, {inf})}, {{"beta", 0.0F}}})), (Floats{6}));
}

TEST(Gemm, OneRoundingOfTheWholeLine) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    const Tensor a = random_tensor({3, 17}, -1, 1, seed),
                 b = random_tensor({4, 17}, -1, 1, seed + 100);
    const Tensor bias = random_tensor({4}, -1, 1, seed + 200);
    OpCall call{"Gemm", {a, b, bias}, {{"transB", one}}};
    call.constant_weights = seed % 2 == 0;
    const Tensor y = run_one(call);
    for (std::size_t i = 0; i < 12; ++i) {
      FloatAccumulator sum;
      for (std::size_t k = 0; k < 17; ++k)
        sum.add_product(a.data<float>()[i / 4 * 17 + k], b.data<float>()[i % 4 * 17 + k]);
      sum.add(double{bias.data<float>()[i % 4]});
      ASSERT_EQ(bits(y.data<float>()[i]), bits(sum.round_to_float()));
    }
  }
}

TEST(Gemm, IntegersAndEveryPrecision) {
  EXPECT_EQ(
      indices(run_one({"Gemm", {ints({1, 2}, {3, 4}), ints({2, 1}, {5, -6}), ints({1}, {1})}})),
      (std::vector<std::int64_t>{-8}));
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call{"Gemm", {tensor({1, 2}, {3, 4}), tensor({2, 1}, {0.5F, -1}), tensor({1}, {1})}};
    call.precision = p;
    EXPECT_EQ(values(run_one(call)), (Floats{-1.5F}));
  }
}

TEST(Gemm, Errors) {
  const Tensor a = tensor({1, 2}, {1, 2});
  const auto inner = [&] { run_one({"Gemm", {a, a}}); };
  EXPECT_NE(error_of(inner).find("inner sizes"), std::string::npos);
  const auto bias = [&] { run_one({"Gemm", {a, tensor({2, 1}, {1, 1}), tensor({3}, {1, 1, 1})}}); };
  EXPECT_NE(error_of(bias).find("does not broadcast"), std::string::npos);
}

TEST(Gemm, EmptySums) {
  const Tensor y = run_one({"Gemm", {tensor({2, 0}, {}), tensor({0, 2}, {}), tensor({2}, {1, 2})}});
  EXPECT_EQ(values(y), (Floats{1, 2, 1, 2}));
}

TEST(Gemm, RadiusHolds) {
  const OpCall call{"Gemm",
                    {random_tensor({20, 300}, -1, 1, 1), random_tensor({300, 10}, -1, 1, 2),
                     random_tensor({10}, -1, 1, 3)}};
  const double use = radius_use(call);
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
  EXPECT_LE(radius_use(call, true), 1.0);
}

}  // namespace
}  // namespace assay::test::gemm_test
