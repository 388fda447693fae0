// The float64 row functions against MPFR at 6000 bits, with ties.

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/numeric/rows.h"

namespace assay::rows_double_test {
namespace {

using Row = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

class Real {
 public:
  Real() { mpfr_init2(value, 6000); }
  explicit Real(double x) : Real() { mpfr_set_d(value, x, MPFR_RNDN); }
  ~Real() { mpfr_clear(value); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  double to_double() const { return mpfr_get_d(value, MPFR_RNDN); }
  mpfr_t value;
};

Row random_row(std::mt19937_64& rng, std::size_t n, int spread) {
  std::normal_distribution<double> normal;
  Row x(n);
  for (double& v : x)
    v = std::ldexp(normal(rng), static_cast<int>(rng() % (2 * spread + 1)) - spread);
  return x;
}

void sum_of(Real& sum, const Row& x, bool squares) {
  Real term;
  mpfr_set_zero(sum.value, 1);
  for (const double v : x) {
    mpfr_set_d(term.value, v, MPFR_RNDN);
    if (squares) mpfr_sqr(term.value, term.value, MPFR_RNDN);
    mpfr_add(sum.value, sum.value, term.value, MPFR_RNDN);
  }
}

TEST(RowsDouble, ReductionsMatchExactValues) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 300; ++round) {
    const Row x = random_row(rng, 1 + rng() % 30, round % 2 == 0 ? 2 : 400);
    Real sum;
    sum_of(sum, x, false);
    ASSERT_EQ(cr_sum(x), sum.to_double());
    mpfr_div_ui(sum.value, sum.value, x.size(), MPFR_RNDN);
    ASSERT_EQ(cr_mean(x), sum.to_double());
    sum_of(sum, x, true);
    ASSERT_EQ(cr_sum_square(x), sum.to_double());
    mpfr_log(sum.value, sum.value, MPFR_RNDN);
    sum_of(sum, x, true);
    mpfr_sqrt(sum.value, sum.value, MPFR_RNDN);
    ASSERT_EQ(cr_l2(x), sum.to_double());
    Row magnitudes = x;
    for (double& v : magnitudes) v = std::fabs(v);
    sum_of(sum, magnitudes, false);
    ASSERT_EQ(cr_sum_abs(x), sum.to_double());
    mpfr_log(sum.value, sum.value, MPFR_RNDN);
    ASSERT_EQ(cr_log_sum(magnitudes), sum.to_double());
  }
  EXPECT_EQ(cr_mean(Row{1.0, 1.0 + 0x1p-52}), 1.0);  // tie to even
  EXPECT_EQ(cr_mean(Row{1.0 + 0x1p-52, 1.0 + 0x1p-51}), 1.0 + 0x1p-51);
  EXPECT_EQ(cr_sum(Row{1e308, 1e308, -1e308}), 1e308);
  EXPECT_EQ(cr_sum(Row{1e308, 1e308}), kInf);
  EXPECT_EQ(cr_sum(Row{kInf, 1.0}), kInf);
  EXPECT_TRUE(std::isnan(cr_sum(Row{kInf, -kInf})));
  EXPECT_TRUE(std::signbit(cr_sum(Row{-0.0, -0.0})));
  EXPECT_EQ(cr_prod(Row{1e200, 1e200, 1e-300}), [] {
    Real p(1e200);
    mpfr_mul_d(p.value, p.value, 1e200, MPFR_RNDN);
    mpfr_mul_d(p.value, p.value, 1e-300, MPFR_RNDN);
    return p.to_double();
  }());
}

TEST(RowsDouble, SoftmaxMatchesExactValues) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 10; ++round) {
    Row x = random_row(rng, 2 + rng() % 10, 3);
    if (round == 0) x = {0.0, -40.0, -800.0};
    if (round == 1) x = {3.0, 3.0, 3.0};
    Row soft(x.size());
    Row log_soft(x.size());
    cr_softmax(x, soft);
    cr_log_softmax(x, log_soft);
    Real sum;
    Real term;
    mpfr_set_prec(term.value, 3000);
    mpfr_set_zero(sum.value, 1);
    for (const double v : x) {
      mpfr_set_d(term.value, v, MPFR_RNDN);
      mpfr_exp(term.value, term.value, MPFR_RNDN);
      mpfr_add(sum.value, sum.value, term.value, MPFR_RNDN);
    }
    Real log;
    mpfr_set_prec(log.value, 3000);
    mpfr_log(log.value, sum.value, MPFR_RNDN);
    ASSERT_EQ(cr_log_sum_exp(x), log.to_double());
    for (std::size_t i = 0; i < x.size(); ++i) {
      mpfr_set_d(term.value, x[i], MPFR_RNDN);
      mpfr_exp(term.value, term.value, MPFR_RNDN);
      mpfr_div(term.value, term.value, sum.value, MPFR_RNDN);
      ASSERT_EQ(soft[i], term.to_double()) << x[i];
      mpfr_d_sub(term.value, x[i], log.value, MPFR_RNDN);
      ASSERT_EQ(log_soft[i], term.to_double()) << x[i];
    }
  }
  Row y(2);
  cr_softmax(Row{-kInf, 1.0}, y);
  EXPECT_EQ(y, (Row{0.0, 1.0}));
  cr_softmax(Row{kInf, 1.0}, y);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

TEST(RowsDouble, NormalizationsMatchExactValues) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 100; ++round) {
    Row x = random_row(rng, 2 + rng() % 20, 2);
    if (round % 3 == 0) {
      for (double& v : x) v += 1e15;  // the variance cancels almost wholly
    }
    const Row gamma = random_row(rng, x.size(), 1);
    const Row beta = random_row(rng, x.size(), 1);
    const double epsilon = round % 2 == 0 ? 1e-5 : 0.0;
    Row layer(x.size());
    Row rms(x.size());
    Row batch(x.size());
    cr_layer_norm(x, {epsilon, gamma, beta}, layer);
    cr_rms_norm(x, {epsilon, gamma, beta}, rms);
    cr_batch_norm(x, {gamma[0], beta[0], x[0], 0.75, epsilon}, batch);
    Real mean;
    Real square;
    Real variance;
    sum_of(mean, x, false);
    mpfr_div_ui(mean.value, mean.value, x.size(), MPFR_RNDN);
    sum_of(square, x, true);
    mpfr_div_ui(square.value, square.value, x.size(), MPFR_RNDN);
    mpfr_sqr(variance.value, mean.value, MPFR_RNDN);
    mpfr_sub(variance.value, square.value, variance.value, MPFR_RNDN);
    Real fixed(0.75);
    for (Real* v : {&variance, &square, &fixed}) {
      mpfr_add_d(v->value, v->value, epsilon, MPFR_RNDN);
      mpfr_rec_sqrt(v->value, v->value, MPFR_RNDN);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto expected = [&](double centre, const Real* mean_of, const Real& factor, double g,
                                double b) {
        Real y(x[i]);
        if (mean_of != nullptr) mpfr_sub(y.value, y.value, mean_of->value, MPFR_RNDN);
        mpfr_sub_d(y.value, y.value, centre, MPFR_RNDN);
        mpfr_mul(y.value, y.value, factor.value, MPFR_RNDN);
        mpfr_mul_d(y.value, y.value, g, MPFR_RNDN);
        mpfr_add_d(y.value, y.value, b, MPFR_RNDN);
        return y.to_double();
      };
      ASSERT_EQ(layer[i], expected(0, &mean, variance, gamma[i], beta[i])) << round;
      ASSERT_EQ(rms[i], expected(0, nullptr, square, gamma[i], beta[i])) << round;
      ASSERT_EQ(batch[i], expected(x[0], nullptr, fixed, gamma[0], beta[0])) << round;
    }
  }
}

// variance + epsilon = 4: y = x / 2 + 1 ties whenever x has 53 bits and y lies above 1.
TEST(RowsDouble, BatchNormTies) {
  const Row x{1.0 + 0x1p-52, 1.0 + 3 * 0x1p-52, -0.5};
  Row y(3);
  cr_batch_norm(x, {1.0, 1.0, 0.0, 3.0, 1.0}, y);
  EXPECT_EQ(y[0], 1.5);            // 1.5 + 2^-53
  EXPECT_EQ(y[1], 1.5 + 0x1p-51);  // 1.5 + 3 2^-53
  EXPECT_EQ(y[2], 0.75);
  cr_batch_norm(x, {1.0, 1.0, 0.0, -3.0, 1.0}, y);
  EXPECT_TRUE(std::isnan(y[0]));
}

}  // namespace
}  // namespace assay::rows_double_test
