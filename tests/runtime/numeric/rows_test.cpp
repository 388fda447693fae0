// Row functions against MPFR at 2000 bits, with true ties; the canonical order against sums written
// out by hand.

#include "tests/runtime/numeric/rows_oracle.h"

namespace assay::rows_test {
namespace {

using namespace test;

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

// The bound of rows_softmax.cpp, 2 (2^-45 + (n/8 + 4) u), on the same double arithmetic: it holds,
// and a bound 2^10 times smaller would not.
TEST(RowsSoftmax, ErrorBoundIsSoundAndNotEmpty) {
  std::mt19937_64 rng(11);
  double worst = 0;
  for (int round = 0; round < 60; ++round) {
    const Row x = random_row(rng, 64, 20.0F);
    const std::vector<double> wide(x.begin(), x.end());
    std::vector<double> y(x.size());
    row_softmax(std::span<const double>(wide), std::span<double>(y));
    const SoftmaxOracle oracle(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      Real e(x[i]);
      mpfr_exp(e.value, e.value, MPFR_RNDN);
      mpfr_div(e.value, e.value, oracle.sum.value, MPFR_RNDN);
      Real error(y[i]);
      mpfr_sub(error.value, error.value, e.value, MPFR_RNDN);
      mpfr_div(error.value, error.value, e.value, MPFR_RNDN);
      worst = std::max(worst, std::fabs(mpfr_get_d(error.value, MPFR_RNDN)));
    }
  }
  const double bound = 2 * (0x1p-45 + 12 * 0x1p-53);
  EXPECT_LE(worst, bound);
  EXPECT_GT(worst, bound * 0x1p-10);
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
}  // namespace assay::rows_test
