// Tiers of settle(): special values; for float a compensated sum with its own proved radius; last
// an exact sum (long accumulator, or MPFR at a precision that holds every bit), which always ends.
#include "runtime/numeric/gemm_exact.h"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/exact_accumulator.h"
#include "runtime/numeric/proved.h"

namespace assay::dot {
namespace {

// alpha * a * b of three floats reaches from 2^-447 to 2^384.
using TripleAccumulator = ExactAccumulator<-480, 32>;

template <typename T>
T canonical_nan() {
  return std::numeric_limits<T>::quiet_NaN();
}

bool all_finite(const DotTerms& t) {
  double probe = 0.0;  // stays 0 unless something is infinite or NaN
  for (size_t i = 0; i < t.a.size(); ++i) probe += t.a[i] * 0.0 + t.b[i] * 0.0;
  for (int e = 0; e < t.extra_count; ++e) {
    const auto& extra = t.extras[static_cast<size_t>(e)];
    probe += extra.multiplier * 0.0 + extra.value * 0.0;
  }
  return probe == 0.0 && std::isfinite(t.alpha);
}

// The product's special value, or 0 when it is an ordinary number (whose size cannot matter then).
double special_product(double x, double y) {
  if (std::isfinite(x) && std::isfinite(y)) return 0.0;
  return x * y;
}

double exact_sign(const DotTerms& t) {
  DoubleAccumulator sum;
  for (size_t i = 0; i < t.a.size(); ++i) sum.add_product(t.a[i], t.b[i]);
  return sum.sign();
}

// IEEE 754 on the extended reals: finite parts count as 0 beside an infinity.
template <typename T>
T special_result(const DotTerms& t) {
  double products = 0.0;
  for (size_t i = 0; i < t.a.size(); ++i) products += special_product(t.a[i], t.b[i]);
  double sum = 0.0;
  if (!std::isfinite(products)) {
    sum = t.alpha * products;
  } else if (!std::isfinite(t.alpha)) {
    sum = t.alpha * exact_sign(t);
  }
  for (int e = 0; e < t.extra_count; ++e) {
    const auto& extra = t.extras[static_cast<size_t>(e)];
    sum += special_product(extra.multiplier, extra.value);
  }
  return std::isnan(sum) ? canonical_nan<T>() : static_cast<T>(sum);
}

// An exact zero: -0 only when there are addends and every one is -0.
template <typename T>
T signed_zero(const DotTerms& t) {
  if (t.a.empty() && t.extra_count == 0) return T(0);
  for (size_t i = 0; i < t.a.size(); ++i) {
    const bool zero = t.a[i] == 0.0 || t.b[i] == 0.0 || t.alpha == 0.0;
    const bool negative = (std::signbit(t.a[i]) != std::signbit(t.b[i])) != std::signbit(t.alpha);
    if (!zero || !negative) return T(0);
  }
  for (int e = 0; e < t.extra_count; ++e) {
    const double value =
        t.extras[static_cast<size_t>(e)].multiplier * t.extras[static_cast<size_t>(e)].value;
    if (value != 0.0 || !std::signbit(value)) return T(0);
  }
  return T(-0.0);
}

// Compensated sum: the value is s + E with E the exact sum of the errors q_i, of which e is the
// plain sum. With m errors |e - E| <= gamma_m * sum|q_i| <= m 2^-53 (1 + 2^-20) sum|q_i| =: r, and
// sum|q_i| itself is computed with relative error below gamma_m; the factor 1.001 covers both for m
// < 2^40. No step underflows: the operands are products of at most three floats, multiples of
// 2^-447. When all q_i are 0, s is exact.
class CompensatedSum {
 public:
  void add(double p) {
    double q = 0.0;
    s_ = qd::two_sum(s_, p, q);
    error(q);
  }
  void add_product(double a, double b) {
    const double p = a * b;
    add(p);
    error(std::fma(a, b, -p));
  }
  // Takes over another sum. Its error sum becomes one more summand of this one's, which the count
  // covers.
  void merge(const CompensatedSum& other) {
    add(other.s_);
    e_ += other.e_;
    size_ += other.size_;
    count_ += other.count_ + 1;
  }
  std::optional<float> rounded() const {
    if (size_ == 0.0) return s_ != 0.0 ? std::optional(static_cast<float>(s_)) : std::nullopt;
    double low = 0.0;
    const double high = qd::two_sum(s_, e_, low);
    const double bound = 1.001 * 0x1p-53 * static_cast<double>(count_) * size_ + 0x1p-1000;
    const double r = proved<"float32, compensated dot product">(bound).value;
    const double slack = r + 0x1p-50 * (std::fabs(low) + r);
    if (!(std::fabs(low) + slack < 0x1.ffffp-54 * std::fabs(high))) return std::nullopt;
    const float down = round_pair_to_float(high, low - slack);
    const float up = round_pair_to_float(high, low + slack);
    if (down != up || down == 0.0F) return std::nullopt;
    return down;
  }

 private:
  void error(double q) {
    e_ += q;
    size_ += std::fabs(q);
    ++count_;
  }
  double s_ = 0.0, e_ = 0.0, size_ = 0.0;
  int64_t count_ = 2;
};

void add_extras(CompensatedSum& sum, const DotTerms& t) {
  for (int e = 0; e < t.extra_count; ++e) {
    const auto& extra = t.extras[static_cast<size_t>(e)];
    sum.add(extra.multiplier * extra.value);
  }
}

std::optional<float> compensated(const DotTerms& t) {
  CompensatedSum sum;
  if (t.alpha == 1.0) {
    for (size_t i = 0; i < t.a.size(); ++i) sum.add(t.a[i] * t.b[i]);
  } else {
    for (size_t i = 0; i < t.a.size(); ++i) sum.add_product(t.alpha * t.a[i], t.b[i]);
  }
  add_extras(sum, t);
  return sum.rounded();
}

template <typename Accumulator>
Accumulator exact_sum(const DotTerms& t) {
  Accumulator sum;
  for (size_t i = 0; i < t.a.size(); ++i) sum.add_product(t.alpha * t.a[i], t.b[i]);
  for (int e = 0; e < t.extra_count; ++e) {
    const auto& extra = t.extras[static_cast<size_t>(e)];
    sum.add_product(extra.multiplier, extra.value);
  }
  return sum;
}

// alpha * a * b of three doubles: bits from 2^-3222 up to 2^3072, sums below 2^3136. 6400 bits hold
// them all, so nothing below rounds before the last step.
double settle_wide(const DotTerms& t) {
  constexpr mpfr_prec_t bits = 6400;
  mpfr_t sum, term;
  mpfr_init2(sum, bits);
  mpfr_init2(term, bits);
  mpfr_set_zero(sum, 1);
  for (size_t i = 0; i < t.a.size(); ++i) {
    mpfr_set_d(term, t.a[i], MPFR_RNDN);
    mpfr_mul_d(term, term, t.b[i], MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_mul_d(sum, sum, t.alpha, MPFR_RNDN);
  for (int e = 0; e < t.extra_count; ++e) {
    mpfr_set_d(term, t.extras[static_cast<size_t>(e)].multiplier, MPFR_RNDN);
    mpfr_mul_d(term, term, t.extras[static_cast<size_t>(e)].value, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  const double result = mpfr_zero_p(sum) != 0 ? signed_zero<double>(t) : mpfr_get_d(sum, MPFR_RNDN);
  mpfr_clear(sum);
  mpfr_clear(term);
  return result;
}

}  // namespace

// Rounding high + low to odd in double and then to float is correct, subnormals included, since 53
// >= 24 + 2 (Boldo and Melquiond, 2008). |low| < 2^-53 |high| keeps the sum strictly between high
// and its neighbour, below a power of two as well.
float round_pair_to_float(double high, double low) {
  const auto bits = std::bit_cast<int64_t>(high);
  if (low != 0.0 && (bits & 1) == 0) {
    const bool away = (low > 0.0) == (high > 0.0);
    high = std::bit_cast<double>(bits + (away ? 1 : -1));
  }
  return static_cast<float>(high);
}

std::optional<float> settle_products(std::span<const double> products, const DotTerms& extras) {
  // Four sums side by side: one alone would wait for every addition.
  std::array<CompensatedSum, 4> lanes;
  size_t k = 0;
  for (; k + 4 <= products.size(); k += 4)
    for (size_t lane = 0; lane < 4; ++lane) lanes[lane].add(products[k + lane]);
  for (; k < products.size(); ++k) lanes[0].add(products[k]);
  for (size_t lane = 1; lane < 4; ++lane) lanes[0].merge(lanes[lane]);
  add_extras(lanes[0], extras);
  return lanes[0].rounded();
}

template <>
float settle<float>(const DotTerms& terms) {
  if (!all_finite(terms)) return special_result<float>(terms);
  if (const auto fast = compensated(terms)) return *fast;
  const auto sum = exact_sum<TripleAccumulator>(terms);
  return sum.is_zero() ? signed_zero<float>(terms) : sum.round_to_float();
}

template <>
double settle<double>(const DotTerms& terms) {
  if (!all_finite(terms)) return special_result<double>(terms);
  if (terms.alpha != 1.0) return settle_wide(terms);
  const auto sum = exact_sum<DoubleAccumulator>(terms);
  return sum.is_zero() ? signed_zero<double>(terms) : sum.round_to_double();
}

}  // namespace assay::dot
