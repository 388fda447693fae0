// Normalizations against MPFR at 2000 bits, with true ties.

#include "tests/runtime/numeric/rows_oracle.h"

namespace assay::rows_norm_test {
namespace {

using namespace test;

TEST(RowsNorm, LayerAndRmsNormMatchExactValues) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 2 + rng() % 80;
    const Row x = round % 2 == 0 ? grid_row(rng, n)
                                 : random_row(rng, n, 0.5F, round % 4 == 1 ? 0.0F : 1000.0F);
    const Row gamma = random_row(rng, n, 1.0F);
    const Row beta = random_row(rng, n, 0.3F);
    const float epsilon = round % 5 == 0 ? 0.0F : 1e-5F;
    Row layer(n);
    Row rms(n);
    const NormParameters parameters{.epsilon = epsilon, .gamma = gamma, .beta = beta};
    cr_layer_norm(x, parameters, layer);
    cr_rms_norm(x, parameters, rms);
    Real mean;
    Real variance;
    Real square;
    exact_sum(mean, x);
    mpfr_div_ui(mean.value, mean.value, n, MPFR_RNDN);
    exact_squares(square, x);
    mpfr_div_ui(square.value, square.value, n, MPFR_RNDN);
    mpfr_sqr(variance.value, mean.value, MPFR_RNDN);
    mpfr_sub(variance.value, square.value, variance.value, MPFR_RNDN);
    for (Real* v : {&variance, &square}) {
      mpfr_add_d(v->value, v->value, epsilon, MPFR_RNDN);
      mpfr_rec_sqrt(v->value, v->value, MPFR_RNDN);
    }
    const MeanAndInvStd statistics = cr_row_statistics(x, epsilon);
    expect_same(statistics.mean, mean.to_float());
    expect_same(statistics.inv_std, variance.to_float());
    for (std::size_t i = 0; i < n; ++i) {
      Real y;
      mpfr_d_sub(y.value, x[i], mean.value, MPFR_RNDN);
      mpfr_mul(y.value, y.value, variance.value, MPFR_RNDN);
      mpfr_mul_d(y.value, y.value, gamma[i], MPFR_RNDN);
      mpfr_add_d(y.value, y.value, beta[i], MPFR_RNDN);
      expect_same(layer[i], y.to_float());
      mpfr_mul_d(y.value, square.value, x[i], MPFR_RNDN);
      mpfr_mul_d(y.value, y.value, gamma[i], MPFR_RNDN);
      mpfr_add_d(y.value, y.value, beta[i], MPFR_RNDN);
      expect_same(rms[i], y.to_float());
    }
    if (HasFatalFailure()) return;
  }
}

// x = {-1, 1} has mean 0 and variance 1; with epsilon 3 the divisor is exactly 2, so y = x gamma /
// 2 + beta is a tie whenever gamma and beta make one.
TEST(RowsNorm, LayerNormTies) {
  std::mt19937_64 rng(4);
  int ties = 0;
  for (int i = 0; i < 2000; ++i) {
    const float gamma =
        std::bit_cast<float>(0x3F800000U + static_cast<std::uint32_t>(rng() % (1 << 23)));
    const float beta = static_cast<float>(2 + static_cast<int>(rng() % 2));
    const Row x{-1.0F, 1.0F};
    Row y(2);
    const Row gammas(1, gamma);
    const Row betas(1, beta);
    cr_layer_norm(x, {.epsilon = 3.0F, .gamma = gammas, .beta = betas}, y);
    const double exact = static_cast<double>(gamma) / 2 + beta;
    expect_same(y[1], static_cast<float>(exact));
    expect_same(y[0], static_cast<float>(beta - static_cast<double>(gamma) / 2));
    const double spacing = exact < 4 ? 0x1p-22 : 0x1p-21;
    ties += std::fmod(exact, spacing) == spacing / 2 ? 1 : 0;
  }
  EXPECT_GT(ties, 200);
}

TEST(RowsNorm, DegenerateRows) {
  Row y(3);
  const Row beta(1, 0.25F);
  cr_layer_norm(Row{5.0F, 5.0F, 5.0F}, {.epsilon = 1e-5F, .gamma = {}, .beta = beta}, y);
  for (const float v : y) expect_same(v, 0.25F);
  cr_layer_norm(Row{5.0F, 5.0F, 5.0F}, {.epsilon = 0.0F}, y);
  for (const float v : y) expect_same(v, kNan);
  cr_layer_norm(Row{5.0F, kInf, 5.0F}, {}, y);
  for (const float v : y) expect_same(v, kNan);
  cr_rms_norm(Row{0.0F, 3.0F, -0.0F}, {.epsilon = 0.0F}, y);
  expect_same(y[0], 0.0F);
  expect_same(y[1], cr_l2(Row{1.0F, 1.0F, 1.0F}));  // 3 / sqrt(9/3) = sqrt 3
}

TEST(RowsNorm, LpNormalize) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 300; ++round) {
    const Row x = round % 2 == 0 ? grid_row(rng, 4) : random_row(rng, 20, 1.0F);
    Row one(x.size());
    Row two(x.size());
    cr_lp_normalize(x, 1, one);
    cr_lp_normalize(x, 2, two);
    Row magnitudes = x;
    for (float& v : magnitudes) v = std::fabs(v);
    Real sum;
    Real norm;
    exact_sum(sum, magnitudes);
    exact_squares(norm, x);
    mpfr_sqrt(norm.value, norm.value, MPFR_RNDN);
    for (std::size_t i = 0; i < x.size(); ++i) {
      Real y;
      mpfr_d_div(y.value, x[i], sum.value, MPFR_RNDN);
      expect_same(one[i], y.to_float());
      mpfr_d_div(y.value, x[i], norm.value, MPFR_RNDN);
      expect_same(two[i], y.to_float());
    }
    if (HasFatalFailure()) return;
  }
}

void check_batch_norm(const BatchNormParameters& p, const Row& x) {
  Row y(x.size());
  const BatchNormChannel channel(p);
  channel(x, y);
  Real root(p.variance);
  mpfr_add_d(root.value, root.value, p.epsilon, MPFR_RNDN);
  mpfr_sqrt(root.value, root.value, MPFR_RNDN);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Real exact(x[i]);
    mpfr_sub_d(exact.value, exact.value, p.mean, MPFR_RNDN);
    mpfr_mul_d(exact.value, exact.value, p.scale, MPFR_RNDN);
    mpfr_div(exact.value, exact.value, root.value, MPFR_RNDN);
    mpfr_add_d(exact.value, exact.value, p.bias, MPFR_RNDN);
    ASSERT_EQ(y[i], exact.to_float()) << std::hexfloat << x[i];
    ASSERT_EQ(channel(x[i]), y[i]);
  }
}

TEST(RowsBatchNorm, MatchesExactValues) {
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<float> uniform(-2.0F, 2.0F);
  for (int round = 0; round < 400; ++round) {
    BatchNormParameters p{.scale = uniform(rng),
                          .bias = uniform(rng),
                          .mean = uniform(rng),
                          .variance = std::fabs(uniform(rng)),
                          .epsilon = 1e-5F};
    Row x = random_row(rng, 100, round % 4 == 3 ? 1e-30F : 1.0F, p.mean);
    // Around the zero of the output everything cancels.
    const double zero = p.mean - p.bias / p.scale * std::sqrt(p.variance + p.epsilon);
    for (int i = 0; i < 30; ++i) {
      x.push_back(std::nextafter(static_cast<float>(zero), i % 2 == 0 ? 1e9F : -1e9F));
      x.push_back(static_cast<float>(zero * (1 + i * 0x1p-22)));
    }
    check_batch_norm(p, x);
    if (HasFatalFailure()) return;
  }
}

// Parameters of any size: the bias alone, the product alone, or a difference that cancels all of
// double's digits (variance + epsilon = 1 + 2^-90, scale mean = bias).
TEST(RowsBatchNorm, CoefficientsOfAnySize) {
  std::mt19937_64 rng(8);
  std::uniform_real_distribution<float> uniform(-2.0F, 2.0F);
  const auto wild = [&] { return std::ldexp(uniform(rng), static_cast<int>(rng() % 81) - 40); };
  for (int round = 0; round < 400; ++round) {
    BatchNormParameters p{.scale = wild(),
                          .bias = wild(),
                          .mean = wild(),
                          .variance = std::fabs(wild()),
                          .epsilon = std::fabs(wild())};
    if (round % 2 == 0) {
      const double s = p.scale / std::sqrt(static_cast<double>(p.variance) + p.epsilon);
      p.bias = static_cast<float>(p.mean * s);
    }
    check_batch_norm(p, random_row(rng, 60, 1.0F, p.mean));
    if (HasFatalFailure()) return;
  }
  check_batch_norm(
      {.scale = 1.5F, .bias = 3.0F, .mean = 2.0F, .variance = 1.0F, .epsilon = 0x1p-90F},
      {0.0F, -0x1p-60F, 0x1p-91F, 2.0F});
  check_batch_norm({.scale = 1.5F, .bias = 0.0F, .mean = 0.0F}, {1.0F, 0x1p-60F, -3.0F});
}

// variance + epsilon = 4 makes the divisor 2 and the result rational: ties are common.
TEST(RowsBatchNorm, Ties) {
  std::mt19937_64 rng(7);
  int ties = 0;
  for (int round = 0; round < 200; ++round) {
    const BatchNormParameters p{
        .scale = 0.75F, .bias = 1.0F, .mean = 0.5F, .variance = 3.0F, .epsilon = 1.0F};
    Row x(50);
    for (float& v : x)
      v = std::bit_cast<float>(0x3F000000U + static_cast<std::uint32_t>(rng() % (1 << 23)));
    check_batch_norm(p, x);
    for (const float v : x) {
      const double exact = (static_cast<double>(v) - 0.5) * 0.375 + 1;
      ties += std::fmod(exact, 0x1p-23) == 0x1p-24 ? 1 : 0;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(ties, 500);
}

TEST(RowsBatchNorm, SpecialValues) {
  const BatchNormChannel channel({.scale = -1.0F, .bias = 1.0F, .mean = 0.0F, .variance = 1.0F});
  expect_same(channel(kInf), -kInf);
  expect_same(channel(kNan), kNan);
  const BatchNormChannel identity({.epsilon = 0.0F});
  expect_same(identity(-0.0F), 0.0F);
  expect_same(identity(3e38F), 3e38F);
  const BatchNormChannel constant({.variance = 0.0F, .epsilon = 0.0F});
  expect_same(constant(1.0F), kInf);
  expect_same(constant(0.0F), kNan);
  expect_same(BatchNormChannel({.variance = -1.0F})(1.0F), kNan);
  const BatchNormChannel flat({.scale = 0.0F, .bias = 0.5F});
  expect_same(flat(7.0F), 0.5F);
  // Overflow and the subnormal range.
  expect_same(BatchNormChannel({.scale = 4.0F, .epsilon = 0.0F})(1e38F), kInf);
  expect_same(BatchNormChannel({.scale = 0.5F, .epsilon = 0.0F})(0x1p-149F), 0.0F);
  expect_same(BatchNormChannel({.scale = 0.5F, .epsilon = 0.0F})(0x1.8p-148F), 0x1p-148F);
}

// The bound of rows_batch_norm.cpp, 5 u (|x s| + |t|) with s and t rounded to double: it holds, and
// a bound 2^10 times smaller would not.
TEST(RowsBatchNorm, ErrorBoundIsSoundAndNotEmpty) {
  std::mt19937_64 rng(10);
  std::uniform_real_distribution<float> uniform(0.1F, 2.0F);
  double worst = 0;
  for (int round = 0; round < 500; ++round) {
    Real s(uniform(rng));
    mpfr_sqrt(s.value, s.value, MPFR_RNDN);
    mpfr_d_div(s.value, uniform(rng), s.value, MPFR_RNDN);
    Real t;
    mpfr_mul_d(t.value, s.value, uniform(rng), MPFR_RNDN);
    mpfr_d_sub(t.value, uniform(rng), t.value, MPFR_RNDN);
    const double slope = mpfr_get_d(s.value, MPFR_RNDN);
    const double shift = mpfr_get_d(t.value, MPFR_RNDN);
    const double x = uniform(rng) - 1.0F;
    Real exact;
    mpfr_mul_d(exact.value, s.value, x, MPFR_RNDN);
    mpfr_add(exact.value, exact.value, t.value, MPFR_RNDN);
    mpfr_sub_d(exact.value, exact.value, x * slope + shift, MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(exact.value, MPFR_RNDN));
    worst = std::max(worst, error / (5 * 0x1p-53 * (std::fabs(x * slope) + std::fabs(shift))));
  }
  EXPECT_LE(worst, 1.0);
  EXPECT_GT(worst, 0x1p-10);
}

}  // namespace
}  // namespace assay::rows_norm_test
