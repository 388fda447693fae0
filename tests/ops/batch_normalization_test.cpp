// BatchNormalization: literals of the public cases S-04, S-09 and S-10, layouts, training, correct
// rounding, radius.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/numeric/parallel.h"
#include "tests/support/function_check.h"

namespace assay::test::batch_normalization_test {
namespace {

using Floats = std::vector<float>;

OpCall bn(Tensor x, Floats gamma, Floats beta, Floats mean, Floats variance, float epsilon) {
  const auto n = static_cast<std::int64_t>(gamma.size());
  return {"BatchNormalization",
          {std::move(x), tensor({n}, gamma), tensor({n}, beta), tensor({n}, mean),
           tensor({n}, variance)},
          {{"epsilon", epsilon}},
          15};
}

TEST(BatchNormalization, UnusualParameters) {
  const Tensor x = tensor({1, 3, 1, 1}, {3, 3, 0.001F});
  const auto y = values(run_one(bn(x, {0, -2, 1}, {0.5F, 1, 0}, {1, 1, 0}, {4, 1, 0}, 1e-5F)));
  EXPECT_EQ(y[0], 0.5F);
  EXPECT_NEAR(y[1], -2.99998, 1e-6);
  EXPECT_NEAR(y[2], 0.3162278, 1e-6);
  EXPECT_NEAR(values(run_one(bn(tensor({1, 1, 1}, {0.1F}), {1}, {0}, {0}, {1e-4F}, 1e-3F)))[0],
              3.0151134, 1e-6);
}

TEST(BatchNormalization, LargeEpsilonDoesNotHideTheMean) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call = bn(tensor({1, 1, 2}, {5, 1}), {3}, {2}, {1}, {3}, 1.0F);
    call.precision = p;
    EXPECT_EQ(values(run_one(call)), (Floats{8, 2})) << to_string(p);  // (5 - 1) / 2 * 3 + 2
  }
}

TEST(BatchNormalization, TrainingUsesTheBatch) {
  OpCall call = bn(tensor({2, 1, 1, 2}, {1, 3, 5, 7}), {1}, {0}, {0}, {1}, 0.0F);
  call.attributes.set("training_mode", std::int64_t{1});
  call.attributes.set("momentum", 0.9F);
  call.outputs = 3;
  const auto out = run(call);
  const double root = std::sqrt(5.0);  // batch mean 4, population variance 5
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(out[0].data<float>()[i],
              static_cast<float>((2.0 * static_cast<double>(i) - 3.0) / root));
  const double m = double{0.9F};
  EXPECT_EQ(out[1].data<float>()[0], static_cast<float>(4 * (1 - m)));
  EXPECT_EQ(out[2].data<float>()[0], static_cast<float>(m + 5 * (1 - m)));
}

TEST(BatchNormalization, OlderTrainingHasFiveOutputs) {
  OpCall call = bn(tensor({1, 1, 2}, {1, 3}), {1}, {0}, {0}, {1}, 0.0F);
  call.opset = 9;
  call.outputs = 5;
  const auto out = run(call);
  EXPECT_EQ(values(out[0]), (Floats{-1, 1}));
  EXPECT_EQ(values(out[3]), (Floats{2}));
  EXPECT_EQ(values(out[4]), (Floats{1}));
}

TEST(BatchNormalization, SpatialZeroNormalizesEachElement) {
  OpCall call{"BatchNormalization",
              {tensor({1, 1, 2}, {4, 9}), tensor({1, 2}, {1, 2}), tensor({1, 2}, {0, 1}),
               tensor({1, 2}, {2, 5}), tensor({1, 2}, {4, 16})},
              {{"epsilon", 0.0F}, {"spatial", std::int64_t{0}}},
              7};
  EXPECT_EQ(values(run_one(call)), (Floats{1, 3}));
}

TEST(BatchNormalization, AgainstMpfr) {
  const Tensor x = random_tensor({2, 3, 50}, -5, 5, 3);
  const Floats gamma{1.7F, -0.3F, 2.0F}, beta{0.3F, 0.1F, -4.0F}, mean{0.2F, -1.0F, 3.0F},
      var{0.6F, 4.0F, 1e-3F};
  const Tensor y = run_one(bn(x, gamma, beta, mean, var, 1e-5F));
  mpfr_t v, s;
  mpfr_inits2(300, v, s, nullptr);
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t ch = i / 50 % 3;
    mpfr_set_d(s, var[ch], MPFR_RNDN);
    mpfr_add_d(s, s, double{1e-5F}, MPFR_RNDN);
    mpfr_sqrt(s, s, MPFR_RNDN);
    mpfr_set_d(v, x.data<float>()[i], MPFR_RNDN);
    mpfr_sub_d(v, v, mean[ch], MPFR_RNDN);
    mpfr_mul_d(v, v, gamma[ch], MPFR_RNDN);
    mpfr_div(v, v, s, MPFR_RNDN);
    mpfr_add_d(v, v, beta[ch], MPFR_RNDN);
    ASSERT_EQ(y.data<float>()[i], mpfr_get_flt(v, MPFR_RNDN)) << i;
  }
  mpfr_clears(v, s, nullptr);
}

TEST(BatchNormalization, SameBitsForThreads) {
  OpCall call = bn(random_tensor({3, 2, 40, 40}, -5, 5, 3), {1.7F, 2}, {0.3F, 1}, {0.2F, 0},
                   {0.6F, 1}, 1e-5F);
  set_num_threads(1);
  const Tensor one = run_one(call);
  set_num_threads(2);
  EXPECT_TRUE(same_bits(one, run_one(call)));
}

TEST(BatchNormalization, EmptyWidthAndWrongSizes) {
  EXPECT_EQ(run_one(bn(tensor({1, 2, 0}, {}), {1, 1}, {0, 0}, {0, 0}, {1, 1}, 0)).shape(),
            (Shape{1, 2, 0}));
  const auto call = [] { run_one(bn(tensor({1, 2, 1}, {1, 2}), {1}, {0}, {0}, {1}, 0)); };
  EXPECT_NE(error_of(call).find("wrong size"), std::string::npos);
}

TEST(BatchNormalization, RadiusHolds) {
  const OpCall call =
      bn(random_tensor({2, 2, 500}, -5, 5, 9), {1.7F, -2}, {0.3F, 1}, {0.2F, 7}, {0.6F, 1}, 1e-5F);
  const double use = radius_use(call);
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

TEST(BatchNormalization, RadiusCoversParametersThatMoved) {
  // Parameters moved by at most their radii; y is then computed in double.
  const Tensor x = random_tensor({1, 2, 500}, -5, 5, 9);
  const OpCall call = bn(x, {1.7F, -2}, {0.3F, 1}, {0.2F, 7}, {0.6F, 1}, 1e-5F);
  const double moves[] = {1e-3, 2e-3, 3e-3, 4e-3};
  std::vector<Tensor> radii(5);
  for (std::size_t i = 0; i < 4; ++i) radii[i + 1] = tensor64({2}, {moves[i], moves[i]});
  const Tensor radius = radius_of(call, radii);
  const auto y = values(run_one(call));
  double use = 0;
  for (const double sign : {-1.0, 1.0}) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const bool first = i < 500;
      const double gamma = (first ? 1.7F : -2.0F) + sign * moves[0] * (first ? 1 : -1);
      const double root = std::sqrt((first ? 0.6F : 1.0F) + 1e-5F - sign * moves[3]);
      const double mean = (first ? 0.2F : 7.0F) - sign * moves[2];
      const double beta = (first ? 0.3F : 1.0F) + sign * moves[1];
      const double moved = (x.data<float>()[i] - mean) * gamma / root + beta;
      use = std::max(use, std::fabs(moved - y[i]) / radius.data<double>()[i]);
    }
  }
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 0.9);
}

}  // namespace
}  // namespace assay::test::batch_normalization_test
