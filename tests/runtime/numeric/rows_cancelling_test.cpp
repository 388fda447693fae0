// Normalizations whose bias takes away nearly the whole result: what is left is of the size of
// float's (float64's) own rounding, or somewhat larger, so the error of the double (double-double)
// evaluation reaches its last bits, and an error bound that is too small lets wrong ones pass.
// Expected values are MPFR's.
#include "tests/runtime/numeric/rows_oracle.h"

namespace assay::rows_cancelling_test {
namespace {

using namespace test;

template <class T>
T rounded(mpfr_srcptr y) {
  if constexpr (sizeof(T) == 4) {
    return mpfr_get_flt(y, MPFR_RNDN);
  } else {
    return mpfr_get_d(y, MPFR_RNDN);
  }
}

template <class T>
std::vector<T> uniform_row(std::mt19937_64& rng, std::size_t n, T low, T high) {
  std::uniform_real_distribution<T> uniform(low, high);
  std::vector<T> x(n);
  for (T& v : x) v = uniform(rng);
  return x;
}

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, or with mean 0 and the mean of squares.
template <class T>
struct Normalization {
  std::vector<T> x, gamma, beta;
  T epsilon;
  bool centred;

  std::vector<T> exact() const {
    Real mean, square, term;
    mpfr_set_zero(mean.value, 1);
    mpfr_set_zero(square.value, 1);
    for (const T v : x) {
      mpfr_add_d(mean.value, mean.value, v, MPFR_RNDN);
      mpfr_set_d(term.value, v, MPFR_RNDN);
      mpfr_sqr(term.value, term.value, MPFR_RNDN);
      mpfr_add(square.value, square.value, term.value, MPFR_RNDN);
    }
    mpfr_div_ui(mean.value, mean.value, x.size(), MPFR_RNDN);
    mpfr_div_ui(square.value, square.value, x.size(), MPFR_RNDN);
    if (!centred) mpfr_set_zero(mean.value, 1);
    mpfr_sqr(term.value, mean.value, MPFR_RNDN);
    mpfr_sub(square.value, square.value, term.value, MPFR_RNDN);
    mpfr_add_d(square.value, square.value, epsilon, MPFR_RNDN);
    mpfr_rec_sqrt(square.value, square.value, MPFR_RNDN);
    std::vector<T> y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mpfr_d_sub(term.value, x[i], mean.value, MPFR_RNDN);
      mpfr_mul(term.value, term.value, square.value, MPFR_RNDN);
      mpfr_mul_d(term.value, term.value, gamma[i], MPFR_RNDN);
      mpfr_add_d(term.value, term.value, beta[i], MPFR_RNDN);
      y.push_back(rounded<T>(term.value));
    }
    return y;
  }
  std::vector<T> computed() const {
    std::vector<T> y(x.size());
    if constexpr (sizeof(T) == 4) {
      const NormParameters p{.epsilon = epsilon, .gamma = gamma, .beta = beta};
      centred ? cr_layer_norm(x, p, y) : cr_rms_norm(x, p, y);
    } else {
      const RowNormParameters<double> p{.epsilon = epsilon, .gamma = gamma, .beta = beta};
      centred ? cr_layer_norm(x, p, y) : cr_rms_norm(x, p, y);
    }
    return y;
  }
};

/// `left`: the share of the result that the bias leaves, where its rounding is too little.
template <class T>
void check_normalization(bool centred, T left = 0) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 300; ++round) {
    Normalization<T> norm{.x = uniform_row<T>(rng, 5, -1, 2),
                          .gamma = uniform_row<T>(rng, 5, T(0.5), 2),
                          .beta = std::vector<T>(5),
                          .epsilon = T(1e-5),
                          .centred = centred};
    const std::vector<T> plain = norm.exact();
    for (std::size_t i = 0; i < plain.size(); ++i) norm.beta[i] = -plain[i] * (1 + left);
    ASSERT_EQ(norm.computed(), norm.exact());
  }
}

TEST(RowsCancelling, LayerNorm) { check_normalization<float>(true); }
TEST(RowsCancelling, RmsNorm) { check_normalization<float>(false); }
TEST(RowsCancelling, LayerNormInFloat64) { check_normalization<double>(true, 0x1p-47); }
TEST(RowsCancelling, RmsNormInFloat64) { check_normalization<double>(false, 0x1p-47); }

template <class T>
struct BatchNorm {
  T x, scale, bias, mean, variance, epsilon;

  T exact() const {
    Real y(x), root(variance);
    mpfr_add_d(root.value, root.value, epsilon, MPFR_RNDN);
    mpfr_sqrt(root.value, root.value, MPFR_RNDN);
    mpfr_sub_d(y.value, y.value, mean, MPFR_RNDN);
    mpfr_mul_d(y.value, y.value, scale, MPFR_RNDN);
    mpfr_div(y.value, y.value, root.value, MPFR_RNDN);
    mpfr_add_d(y.value, y.value, bias, MPFR_RNDN);
    return rounded<T>(y.value);
  }
  T computed() const {
    if constexpr (sizeof(T) == 4) {
      return BatchNormChannel(
          {.scale = scale, .bias = bias, .mean = mean, .variance = variance, .epsilon = epsilon})(
          x);
    } else {
      T y = 0;
      cr_batch_norm(std::span(&x, 1), {scale, bias, mean, variance, epsilon}, std::span(&y, 1));
      return y;
    }
  }
};

template <class T>
void check_batch_norm() {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<T> r = uniform_row<T>(rng, 4, T(0.5), 2);
    BatchNorm<T> norm{.x = r[0] + 1,
                      .scale = r[1],
                      .bias = 0,
                      .mean = r[2],
                      .variance = r[3],
                      .epsilon = T(1e-5)};
    norm.bias = -norm.exact();
    ASSERT_EQ(norm.computed(), norm.exact()) << round;
  }
}

TEST(RowsCancelling, BatchNorm) { check_batch_norm<float>(); }
TEST(RowsCancelling, BatchNormInFloat64) { check_batch_norm<double>(); }

}  // namespace
}  // namespace assay::rows_cancelling_test
