// Row functions against MPFR at 2000 bits, with true ties; the canonical order against sums written
// out by hand.

#include "runtime/numeric/rows.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace assay {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

using Row = std::vector<float>;

class Real {
 public:
  Real() { mpfr_init2(value, 2000); }
  explicit Real(double x) : Real() { mpfr_set_d(value, x, MPFR_RNDN); }
  ~Real() { mpfr_clear(value); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  float to_float() const { return mpfr_get_flt(value, MPFR_RNDN); }
  mpfr_t value;
};

Row random_row(std::mt19937_64& rng, std::size_t n, float spread, float centre = 0) {
  std::normal_distribution<float> normal(centre, spread);
  Row x(n);
  for (float& value : x) value = normal(rng);
  return x;
}

// Values on a coarse grid give exact ties in means and roots.
Row grid_row(std::mt19937_64& rng, std::size_t n) {
  Row x(n);
  for (float& value : x) {
    value = static_cast<float>(static_cast<int>(rng() % (1 << 24)) - (1 << 23)) * 0x1p-10F;
  }
  return x;
}

void expect_same(float computed, float expected) {
  const bool same =
      std::bit_cast<std::uint32_t>(computed) == std::bit_cast<std::uint32_t>(expected);
  ASSERT_TRUE(same || (std::isnan(computed) && std::isnan(expected)))
      << std::hexfloat << computed << " expected " << expected;
}

void exact_sum(Real& sum, const Row& x) {
  mpfr_set_zero(sum.value, 1);
  for (const float v : x) mpfr_add_d(sum.value, sum.value, v, MPFR_RNDN);
}
void exact_squares(Real& sum, const Row& x) {
  Real term;
  mpfr_set_zero(sum.value, 1);
  for (const float v : x) {
    mpfr_set_d(term.value, v, MPFR_RNDN);
    mpfr_sqr(term.value, term.value, MPFR_RNDN);
    mpfr_add(sum.value, sum.value, term.value, MPFR_RNDN);
  }
}

TEST(RowsReduce, MatchExactValues) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = 1 + rng() % 60;
    const Row x =
        round % 3 == 0 ? grid_row(rng, n) : random_row(rng, n, round % 3 == 1 ? 1.0F : 1e-20F);
    Real sum;
    exact_sum(sum, x);
    expect_same(cr_sum(x), sum.to_float());
    mpfr_div_ui(sum.value, sum.value, n, MPFR_RNDN);
    expect_same(cr_mean(x), sum.to_float());
    exact_squares(sum, x);
    expect_same(cr_sum_square(x), sum.to_float());
    mpfr_sqrt(sum.value, sum.value, MPFR_RNDN);
    expect_same(cr_l2(x), sum.to_float());
    Row magnitudes = x;
    for (float& v : magnitudes) v = std::fabs(v);
    exact_sum(sum, magnitudes);
    expect_same(cr_sum_abs(x), sum.to_float());
    mpfr_log(sum.value, sum.value, MPFR_RNDN);
    expect_same(cr_log_sum(magnitudes), sum.to_float());
    mpfr_set_ui(sum.value, 1, MPFR_RNDN);
    for (const float v : x) mpfr_mul_d(sum.value, sum.value, v, MPFR_RNDN);
    expect_same(cr_prod(x), sum.to_float());
    if (HasFatalFailure()) return;
  }
}

// (a + b) / 2 with odd last bits lies on the midpoint of two floats: to even.
TEST(RowsReduce, MeansOnTies) {
  int ties = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const float a = std::bit_cast<float>(0x3F800000U + 7 * i);
    const float b = std::bit_cast<float>(0x3F800000U + 7 * i + 1);
    const Row x{a, b, a, b};
    const double exact = (static_cast<double>(a) + b) / 2;
    expect_same(cr_mean(x), static_cast<float>(exact));
    expect_same(cr_sum_over(Row{a, b}, 2), static_cast<float>(exact));
    ties += static_cast<double>(static_cast<float>(exact)) != exact ? 1 : 0;
  }
  EXPECT_EQ(ties, 4000);
}

TEST(RowsReduce, SpecialValues) {
  expect_same(cr_sum(Row{}), 0.0F);
  expect_same(cr_sum(Row{-0.0F, -0.0F}), -0.0F);
  expect_same(cr_sum(Row{-0.0F, 0.0F}), 0.0F);
  expect_same(cr_sum(Row{1.0F, -1.0F}), 0.0F);
  expect_same(cr_sum(Row{kInf, 1.0F}), kInf);
  expect_same(cr_sum(Row{kInf, -kInf}), kNan);
  expect_same(cr_sum(Row{3e38F, 3e38F}), kInf);
  expect_same(cr_sum(Row{3e38F, 3e38F, -3e38F}), 3e38F);
  expect_same(cr_mean(Row{3e38F, 3e38F}), 3e38F);
  expect_same(cr_mean(Row{}), kNan);
  expect_same(cr_l2(Row{3e38F, 0.0F}), 3e38F);
  expect_same(cr_l2(Row{}), 0.0F);
  expect_same(cr_l2(Row{0x1p-149F, 0.0F}), 0x1p-149F);
  expect_same(cr_log_sum(Row{1.0F, -1.0F}), -kInf);
  expect_same(cr_log_sum(Row{1.0F, -2.0F}), kNan);
  expect_same(cr_log_sum(Row{0.5F, 0.5F}), 0.0F);
  expect_same(cr_prod(Row{}), 1.0F);
  expect_same(cr_prod(Row{kInf, 0.0F}), kNan);
  expect_same(cr_prod(Row{1e30F, 1e30F, 1e-30F, 1e-30F}), [] {
    Real p(1.0);
    for (const float v : {1e30F, 1e30F, 1e-30F, 1e-30F}) mpfr_mul_d(p.value, p.value, v, MPFR_RNDN);
    return p.to_float();
  }());
}

// e^(x_i - m), sum and logarithms at 2000 bits.
struct SoftmaxOracle {
  explicit SoftmaxOracle(const Row& x) : x(x) {
    Real e;
    mpfr_set_zero(sum.value, 1);
    for (const float v : x) {
      mpfr_set_d(e.value, v, MPFR_RNDN);
      mpfr_exp(e.value, e.value, MPFR_RNDN);
      mpfr_add(sum.value, sum.value, e.value, MPFR_RNDN);
    }
  }
  float softmax(std::size_t i) const {
    Real e(x[i]);
    mpfr_exp(e.value, e.value, MPFR_RNDN);
    mpfr_div(e.value, e.value, sum.value, MPFR_RNDN);
    return e.to_float();
  }
  float log_sum() const {
    Real y;
    mpfr_log(y.value, sum.value, MPFR_RNDN);
    return y.to_float();
  }
  float log_softmax(std::size_t i) const {
    Real y;
    mpfr_log(y.value, sum.value, MPFR_RNDN);
    mpfr_d_sub(y.value, x[i], y.value, MPFR_RNDN);
    return y.to_float();
  }
  const Row& x;
  Real sum;
};

TEST(RowsSoftmax, MatchExactValues) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 150; ++round) {
    const std::size_t n = 2 + rng() % 100;
    const float spread = std::ldexp(1.0F, static_cast<int>(rng() % 9) - 4);
    const Row x = random_row(rng, n, spread, spread);
    const SoftmaxOracle oracle(x);
    Row soft(n);
    Row log_soft(n);
    cr_softmax(x, soft);
    cr_log_softmax(x, log_soft);
    for (std::size_t i = 0; i < n; ++i) {
      expect_same(soft[i], oracle.softmax(i));
      expect_same(log_soft[i], oracle.log_softmax(i));
    }
    expect_same(cr_log_sum_exp(x), oracle.log_sum());
    if (HasFatalFailure()) return;
  }
}

TEST(RowsSoftmax, HardRows) {
  // A dominating element, a far tail, cancelling log-sum-exp.
  for (const Row& x : {Row{0.0F, -30.0F}, Row{0.0F, -100.0F, -103.0F}, Row{50.0F, 50.0F, -60.0F},
                       Row{-0.6931472F, -0.6931472F}, Row{-1.0986123F, -1.0986123F, -1.0986123F},
                       Row{1000.0F, 0.0F}, Row{3.0F, 3.0F, 3.0F}}) {
    const SoftmaxOracle oracle(x);
    Row soft(x.size());
    Row log_soft(x.size());
    cr_softmax(x, soft);
    cr_log_softmax(x, log_soft);
    for (std::size_t i = 0; i < x.size(); ++i) {
      expect_same(soft[i], oracle.softmax(i));
      expect_same(log_soft[i], oracle.log_softmax(i));
    }
    expect_same(cr_log_sum_exp(x), oracle.log_sum());
  }
}

TEST(RowsSoftmax, SpecialRows) {
  Row y(3);
  cr_softmax(Row{1.0F, kNan, 2.0F}, y);
  for (const float v : y) expect_same(v, kNan);
  cr_softmax(Row{1.0F, kInf, 2.0F}, y);
  for (const float v : y) expect_same(v, kNan);
  cr_softmax(Row{-kInf, -kInf, -kInf}, y);
  for (const float v : y) expect_same(v, kNan);
  cr_softmax(Row{-kInf, 4.0F, -kInf}, y);
  expect_same(y[0], 0.0F);
  expect_same(y[1], 1.0F);
  cr_log_softmax(Row{-kInf, 4.0F, -kInf}, y);
  expect_same(y[0], -kInf);
  expect_same(y[1], 0.0F);
  Row one(1);
  cr_log_softmax(Row{7.0F}, one);
  expect_same(one[0], 0.0F);
  expect_same(cr_log_sum_exp(Row{}), -kInf);
  expect_same(cr_log_sum_exp(Row{-kInf, -kInf}), -kInf);
  expect_same(cr_log_sum_exp(Row{kInf, 0.0F}), kInf);
  expect_same(cr_log_sum_exp(Row{kInf, kNan}), kNan);
  expect_same(cr_log_sum_exp(Row{7.0F}), 7.0F);
}

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

TEST(RowsCanonical, SumFollowsLanesAndTree) {
  std::mt19937_64 rng(8);
  const Row x = random_row(rng, 21, 1.0F);
  float lane[8];
  for (std::size_t j = 0; j < 8; ++j) {
    lane[j] = x[j] + x[j + 8];
    if (j + 16 < 21) lane[j] += x[j + 16];
  }
  const float expected =
      ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  EXPECT_EQ(row_sum(std::span<const float>(x)), expected);
  EXPECT_EQ(row_mean(std::span<const float>(x)), expected / 21.0F);
}

TEST(RowsCanonical, DotUsesFusedSteps) {
  // The lane's second product is 1 - 2^-48; only a fused step keeps its last bit next to -1.
  Row x(9, 0.0F);
  Row y(9, 0.0F);
  x[0] = -1.0F;
  y[0] = 1.0F;
  x[8] = 1.0F - 0x1p-24F;
  y[8] = 1.0F + 0x1p-23F;
  const double exact = static_cast<double>(x[8]) * y[8] - 1.0;
  EXPECT_EQ(row_dot(std::span<const float>(x), std::span<const float>(y)),
            static_cast<float>(exact));
}

TEST(RowsCanonical, WideFormsAgreeWithCorrectRounding) {
  std::mt19937_64 rng(9);
  const Row x = random_row(rng, 37, 2.0F);
  std::vector<double> x64(x.begin(), x.end());
  std::vector<dd> xdd(x.begin(), x.end());
  std::vector<double> y64(x.size());
  std::vector<dd> ydd(x.size());
  Row y(x.size());
  // 1e-13 and 1e-28: a row of 37 loses at most a few dozen units of 2^-53 and 2^-104.
  const auto check = [&] {
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(y64[i], dd_hi(ydd[i]), 1e-13);
      EXPECT_EQ(static_cast<float>(dd_hi(ydd[i])), y[i]);
    }
  };
  cr_softmax(x, y);
  row_softmax(std::span<const double>(x64), std::span<double>(y64));
  row_softmax(std::span<const dd>(xdd), std::span<dd>(ydd));
  check();
  cr_log_softmax(x, y);
  row_log_softmax(std::span<const double>(x64), std::span<double>(y64));
  row_log_softmax(std::span<const dd>(xdd), std::span<dd>(ydd));
  check();
  const double epsilon = 1e-5F;
  cr_layer_norm(x, {.epsilon = 1e-5F}, y);
  row_layer_norm(std::span<const double>(x64), {.epsilon = epsilon}, std::span<double>(y64));
  row_layer_norm(std::span<const dd>(xdd), {.epsilon = dd(epsilon)}, std::span<dd>(ydd));
  check();
  cr_rms_norm(x, {.epsilon = 1e-5F}, y);
  row_rms_norm(std::span<const double>(x64), {.epsilon = epsilon}, std::span<double>(y64));
  row_rms_norm(std::span<const dd>(xdd), {.epsilon = dd(epsilon)}, std::span<dd>(ydd));
  check();
  BatchNormChannel({.scale = 1.5F, .bias = 0.25F, .mean = 0.125F, .variance = 2.0F})(x, y);
  row_batch_norm(std::span<const double>(x64), {1.5, 0.25, 0.125, 2.0, epsilon},
                 std::span<double>(y64));
  row_batch_norm(std::span<const dd>(xdd), {1.5, 0.25, 0.125, 2.0, epsilon}, std::span<dd>(ydd));
  check();
  EXPECT_EQ(static_cast<float>(dd_hi(row_log_sum_exp(std::span<const dd>(xdd)))),
            cr_log_sum_exp(x));
  EXPECT_EQ(static_cast<float>(dd_hi(row_l2(std::span<const dd>(xdd)))), cr_l2(x));
}

TEST(RowsCanonical, MaskedElements) {
  const std::vector<dd> x{dd(-std::numeric_limits<double>::infinity()), dd(1.0), dd(1.0)};
  std::vector<dd> y(3);
  row_softmax(std::span<const dd>(x), std::span<dd>(y));
  EXPECT_EQ(dd_hi(y[0]), 0.0);
  EXPECT_EQ(dd_hi(y[1]), 0.5);
  row_log_softmax(std::span<const dd>(x), std::span<dd>(y));
  EXPECT_EQ(dd_hi(y[0]), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(dd_hi(row_log_sum_exp(std::span<const dd>(x).first(1))),
            -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace assay
