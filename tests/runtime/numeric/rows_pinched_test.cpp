// Softmax-like rows, 1/sigma, Lp norms and products whose exact result is pinched between two
// floats (pinch.h): an error bound that is too small decides for the wrong side. Expected values
// are MPFR's.
#include <tuple>
#include <utility>

#include "tests/runtime/numeric/pinch.h"
#include "tests/runtime/numeric/rows_oracle.h"

namespace assay::rows_pinched_test {
namespace {

using namespace test;

constexpr std::size_t kLane = 8;  // of rows_lanes.h: every eighth element is added to the same lane

enum class Form { softmax, log_softmax, log_sum_exp };

/// One form of element 0 of a row, by MPFR at 400 bits. Equal neighbours are evaluated once.
template <class T>
T exact_form(Form form, const std::vector<T>& x) {
  mpfr_t sum, term, last;
  for (mpfr_ptr v : {sum, term, last}) mpfr_init2(v, 400);
  mpfr_set_zero(sum, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == 0 || x[i] != x[i - 1]) {
      mpfr_set_d(last, x[i], MPFR_RNDN);
      mpfr_exp(last, last, MPFR_RNDN);
    }
    mpfr_add(sum, sum, last, MPFR_RNDN);
  }
  mpfr_set_d(term, x[0], MPFR_RNDN);
  if (form == Form::softmax) {
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_div(term, term, sum, MPFR_RNDN);
  } else {
    mpfr_log(sum, sum, MPFR_RNDN);
    form == Form::log_softmax ? mpfr_sub(term, term, sum, MPFR_RNDN)
                              : mpfr_set(term, sum, MPFR_RNDN);
  }
  T result = 0;
  if constexpr (sizeof(T) == 4) {
    result = mpfr_get_flt(term, MPFR_RNDN);
  } else {
    result = mpfr_get_d(term, MPFR_RNDN);
  }
  for (mpfr_ptr v : {sum, term, last}) mpfr_clear(v);
  return result;
}

template <class T>
T computed_form(Form form, const std::vector<T>& x) {
  if (form == Form::log_sum_exp) return cr_log_sum_exp(x);
  std::vector<T> y(x.size());
  form == Form::softmax ? cr_softmax(x, y) : cr_log_softmax(x, y);
  return y[0];
}

/// Elements from `first` on, each of which adds less to the sum of exponentials than the one before
/// can leave.
template <class T>
std::vector<Knob<T>> exponents(std::vector<T>& x, std::size_t first, std::vector<T> highs) {
  std::vector<Knob<T>> knobs;
  for (std::size_t k = 0; k < highs.size(); ++k)
    knobs.push_back({{&x[first + k]}, {}, -600, highs[k]});
  return knobs;
}

template <class T>
void check_form(Form form, std::vector<T>& x, const std::vector<Knob<T>>& knobs) {
  check_pinched<T>(
      knobs, [&] { return computed_form(form, x); }, [&] { return exact_form(form, x); });
}

/// In one lane, about 0.9 and 400 terms of 0.45 ulp of it: in double the terms are lost, which is
/// most of what the radius allows. (The largest element's own term is no part of that sum.)
Row lossy_row(float second, std::size_t per_lane) {
  Row x(per_lane * kLane + 1, -600.0F);
  x[0] = second;
  x[kLane] = 0.0F;
  for (std::size_t i = 2; i < per_lane; ++i) x[i * kLane] = std::log(0.45F * 0x1p-53F);
  return x;
}

void check_lossy(Form form, std::size_t lanes, const std::vector<float>& highs) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<float> uniform(-0.2F, -0.05F);
  for (int round = 0; round < 4; ++round) {
    Row x = lossy_row(uniform(rng), lanes);
    check_form(form, x, exponents(x, 1, highs));
  }
}

// float32's own spacing is 2^-24: one knob for that, two to come nearer than 2^-70.
TEST(RowsPinched, Softmax) { check_lossy(Form::softmax, 400, {-14, -25, -36}); }
TEST(RowsPinched, LogSoftmax) { check_lossy(Form::log_softmax, 400, {-14, -25, -36}); }
TEST(RowsPinched, LogSumExp) { check_lossy(Form::log_sum_exp, 400, {-14, -25, -36}); }

// The difference x - max is rounded in double, by 2^-47 where it is about -80: an exponential that
// errs by more than its last bits.
TEST(RowsPinched, SoftmaxOfADifferenceThatRounds) {
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<float> uniform(-80.0F, -70.0F);
  for (int round = 0; round < 20; ++round) {
    Row x(8, -600.0F);
    x[0] = uniform(rng);
    x[1] = 0x1.234568p-20F;
    check_form(Form::softmax, x, exponents<float>(x, 2, {-14, -25, -36}));
  }
}

// Three more knobs, to below 2^-110: now the double-double evaluation has to leave it to MPFR.
void check_beyond(std::uint64_t seed, float low, float high, std::initializer_list<Form> forms) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (int round = 0; round < 40; ++round) {
    Row x(9, -600.0F);
    x[0] = uniform(rng);
    x[1] = 0x1.234568p-20F;
    for (const Form form : forms)
      check_form(form, x, exponents<float>(x, 2, {-14, -25, -36, -48, -59, -70}));
  }
}
TEST(RowsPinched, SoftmaxBeyondDoubleDouble) { check_beyond(7, -80.0F, -1.0F, {Form::softmax}); }
TEST(RowsPinched, LogSoftmaxBeyondDoubleDouble) {
  check_beyond(8, -1.0F, -0.1F, {Form::log_softmax, Form::log_sum_exp});
}

// The same loss in double-double: in each lane about 0.9 and 400 terms of 0.45 units in the last
// place of its low word.
TEST(RowsPinched, SoftmaxInFloat64) {
  std::mt19937_64 rng(9);
  std::uniform_real_distribution<double> uniform(-0.2, -0.05);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> x(400 * kLane, std::log(0.45 * 0x1p-107));
    for (std::size_t i = 0; i < kLane; ++i) x[i] = uniform(rng);
    check_form(Form::softmax, x, exponents<double>(x, kLane, {-34, -65, -97}));
  }
}
// A small logarithm, and no smaller than what has its own double-double evaluation: the bound is
// absolute.
TEST(RowsPinched, LogSoftmaxInFloat64) {
  std::mt19937_64 rng(10);
  std::uniform_real_distribution<double> uniform(-6.0, -5.0);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> x(6, -600.0);
    x[0] = 0x1.23456789abcdfp-3;
    x[1] = uniform(rng);
    check_form(Form::log_softmax, x, exponents<double>(x, 2, {-34, -65, -97}));
  }
}

/// 1 / sqrt(mean of squares + epsilon) of a row whose mean is 0.
float exact_inv_std(const Row& x, float epsilon) {
  Real y;
  exact_squares(y, x);
  mpfr_div_ui(y.value, y.value, x.size(), MPFR_RNDN);
  mpfr_add_d(y.value, y.value, epsilon, MPFR_RNDN);
  mpfr_rec_sqrt(y.value, y.value, MPFR_RNDN);
  return y.to_float();
}

// Pairs of x and -x, so that the mean is exactly 0. In two lanes the squares of 400 small elements
// are 0.45 ulp of that of the first.
TEST(RowsPinched, InverseDeviation) {
  std::mt19937_64 rng(11);
  std::uniform_real_distribution<float> uniform(1.0F, 1.4F);
  for (int round = 0; round < 4; ++round) {
    Row x(400 * kLane, 0.0F);
    for (std::size_t i = 0; i < x.size(); i += kLane) {
      x[i] = i == 0 ? uniform(rng) : static_cast<float>(std::sqrt(0.45 * 0x1p-52));
      x[i + 1] = -x[i];
    }
    std::vector<Knob<float>> knobs;
    for (const std::size_t k : {0, 1, 2})
      knobs.push_back({{&x[2 + k * kLane]},
                       {&x[3 + k * kLane]},
                       0,
                       std::ldexp(1.0F, -10 - 11 * static_cast<int>(k))});
    check_pinched<float>(
        knobs, [&] { return cr_row_statistics(x, 1e-5F).inv_std; },
        [&] { return exact_inv_std(x, 1e-5F); });
  }
}

float exact_normalized(const Row& x, int p) {
  Row magnitudes = x;
  for (float& v : magnitudes) v = std::fabs(v);
  Real norm;
  p == 1 ? exact_sum(norm, magnitudes) : exact_squares(norm, x);
  if (p == 2) mpfr_sqrt(norm.value, norm.value, MPFR_RNDN);
  mpfr_d_div(norm.value, x[0], norm.value, MPFR_RNDN);
  return norm.to_float();
}

// The radius is 3 u and the ends take 1 u: the value has to be off by more than one unit in its
// last place, which a few rows in a hundred reach.
TEST(RowsPinched, LpNormalize) {
  std::mt19937_64 rng(12);
  std::uniform_real_distribution<float> uniform(0.5F, 2.0F);
  for (int round = 0; round < 200; ++round) {
    const int p = 1 + round % 2;
    Row x(8, 0.0F);
    for (std::size_t i = 0; i < 5; ++i) x[i] = uniform(rng);
    std::vector<Knob<float>> knobs;
    for (const int k : {0, 1, 2})
      knobs.push_back(
          {{&x[5 + static_cast<std::size_t>(k)]}, {}, 0, std::ldexp(1.0F, (-19 - 22 * k) / p)});
    check_pinched<float>(
        knobs,
        [&] {
          Row y(x.size());
          cr_lp_normalize(x, p, y);
          return y[0];
        },
        [&] { return exact_normalized(x, p); });
  }
}

/// The factor among eight whose product rounds down by most: about 0.4 u each time.
float lossy_factor(double product, std::mt19937_64& rng) {
  float best = 1;
  double most = -1;
  for (int i = 0; i < 8; ++i) {
    const float factor =
        std::bit_cast<float>(0x3F800000U + static_cast<std::uint32_t>(rng() % (1U << 23)));
    const double rounded = product * static_cast<double>(factor);
    const double lost = std::fma(product, static_cast<double>(factor), -rounded) / rounded;
    if (lost > most) std::tie(most, best) = std::pair(lost, factor);
  }
  return best;
}

/// `count` such factors, each followed by the power of two that keeps the product in [1/2, 1);
/// `exact` gets the product.
Row lossy_product(std::size_t count, std::mt19937_64& rng, mpfr_ptr exact) {
  Row x;
  double product = 1;
  mpfr_set_prec(exact, static_cast<mpfr_prec_t>(24 * count + 64));
  mpfr_set_ui(exact, 1, MPFR_RNDN);
  for (std::size_t i = 0; i < count; ++i) {
    int shift = 0;
    x.push_back(lossy_factor(product, rng));
    product = std::frexp(product * static_cast<double>(x.back()), &shift);
    mpfr_mul_d(exact, exact, static_cast<double>(x.back()), MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -shift, MPFR_RNDN);
    x.push_back(std::ldexp(1.0F, -shift));
  }
  return x;
}

/// The float in [1, 2) whose product with `factor`, in [1/2, 1), lies nearest above a midpoint of
/// floats: about 2^-23 of their distance.
float factor_to_a_midpoint(mpfr_srcptr factor) {
  Real scaled;
  mpfr_mul_2si(scaled.value, factor, 64, MPFR_RNDN);
  const std::uint64_t fraction = mpfr_get_ui(scaled.value, MPFR_RNDD);
  const double size = mpfr_get_d(factor, MPFR_RNDN);
  std::uint32_t best = 0;
  std::uint64_t nearest = ~std::uint64_t{0};
  for (std::uint32_t m = 1U << 23; m < 1U << 24; ++m) {
    // The product of the factor and the integer m lies between 2^22 and 2^24; below 2^23 floats are
    // 1/2 apart. Its fraction in units of their distance, less 1/2, times 2^64:
    const bool low = size * m < 0x1p23;
    const std::uint64_t above = (fraction * m << (low ? 1 : 0)) - (std::uint64_t{1} << 63);
    if (above < nearest) std::tie(nearest, best) = std::pair(above, m);
  }
  return static_cast<float>(best) * 0x1p-23F;
}

// 1000 factors after each of which the product is rounded down, and one that takes the exact
// product above a midpoint by 2^-47 of it, far less than what was lost.
TEST(RowsPinched, Product) {
  std::mt19937_64 rng(13);
  for (int round = 0; round < 4; ++round) {
    Real exact;
    Row x = lossy_product(1000, rng, exact.value);
    x.push_back(factor_to_a_midpoint(exact.value));
    mpfr_mul_d(exact.value, exact.value, static_cast<double>(x.back()), MPFR_RNDN);
    expect_same(cr_prod(x), exact.to_float());
  }
}

}  // namespace
}  // namespace assay::rows_pinched_test
