// Reductions correctly rounded to float64: the long accumulator for double products, MPFR for roots
// and logarithms.

#include <algorithm>
#include <cassert>
#include <optional>

#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What IEEE addition makes of infinities and NaN, if there are any.
std::optional<double> special_sum(std::span<const double> x) {
  double sum = 0;
  bool special = false;
  for (const double value : x) {
    if (std::isfinite(value)) continue;
    special = true;
    sum += value;
  }
  if (!special) return std::nullopt;
  return std::isnan(sum) ? kNaN : sum;
}

// The sum where no addition rounds.
std::optional<double> unrounded_sum(std::span<const double> x) {
  double sum = 0;
  double errors = 0;
  for (const double value : x) {
    double error = 0;
    sum = qd::two_sum(sum, value, error);
    errors += std::fabs(error);
  }
  return errors == 0 ? std::optional(sum) : std::nullopt;
}

double zero_sum(std::span<const double> x) {
  const bool negative = !x.empty() && std::all_of(x.begin(), x.end(), [](double v) {
    return v == 0 && std::signbit(v);
  });
  return negative ? -0.0 : 0.0;
}

DoubleAccumulator exact_sum(std::span<const double> x) {
  DoubleAccumulator sum;
  for (const double value : x) sum.add(value);
  return sum;
}

DoubleAccumulator exact_square_sum(std::span<const double> x) {
  DoubleAccumulator sum;
  for (const double value : x) sum.add_product(value, value);
  return sum;
}

bool any_nan(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}
bool any_infinite(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double v) { return std::isinf(v); });
}

}  // namespace

double cr_sum_over(std::span<const double> x, std::int64_t divisor) {
  assert(divisor > 0);
  if (const auto special = special_sum(x)) return *special;
  if (const auto sum = unrounded_sum(x); sum && divisor < (std::int64_t{1} << 53)) {
    return *sum == 0 ? zero_sum(x) : *sum / static_cast<double>(divisor);
  }
  const DoubleAccumulator sum = exact_sum(x);
  return sum.is_zero() ? 0.0 : sum.round(kDoubleFormat, divisor);
}

double cr_sum(std::span<const double> x) { return cr_sum_over(x, 1); }

double cr_mean(std::span<const double> x) {
  return x.empty() ? kNaN : cr_sum_over(x, static_cast<std::int64_t>(x.size()));
}

double cr_sum_abs(std::span<const double> x) {
  if (any_nan(x)) return kNaN;
  if (any_infinite(x)) return kInfinity;
  DoubleAccumulator sum;
  for (const double value : x) sum.add(std::fabs(value));
  return sum.round_to_double();
}

double cr_sum_square(std::span<const double> x) {
  if (any_nan(x)) return kNaN;
  if (any_infinite(x)) return kInfinity;
  return exact_square_sum(x).round_to_double();
}

double cr_l2(std::span<const double> x) {
  if (any_nan(x)) return kNaN;
  if (any_infinite(x)) return kInfinity;
  Mpfr sum(64);
  to_mpfr(sum, exact_square_sum(x));
  Mpfr y(60);
  const int inexact = mpfr_sqrt(y, sum, MPFR_RNDZ);
  return to_tailed(y, inexact).value;
}

// The logarithm of a rational other than 1 is transcendental, so the loop ends.
double cr_log_sum(std::span<const double> x) {
  if (const auto special = special_sum(x)) return *special > 0 ? kInfinity : kNaN;
  const DoubleAccumulator accumulated = exact_sum(x);
  if (accumulated.sign() <= 0) return accumulated.is_zero() ? -kInfinity : kNaN;
  Mpfr sum(64);
  to_mpfr(sum, accumulated);
  if (mpfr_cmp_ui(sum.get(), 1) == 0) return 0.0;
  return mpfr_ziv([&](mpfr_ptr y) { mpfr_log(y, sum, MPFR_RNDN); }).value;
}

// The exact product has 53 n bits.
double cr_prod(std::span<const double> x) {
  Mpfr product(static_cast<mpfr_prec_t>(53 * x.size() + 64));
  mpfr_set_ui(product, 1, MPFR_RNDN);
  for (const double value : x) mpfr_mul_d(product, product, value, MPFR_RNDN);
  return mpfr_nan_p(product.get()) ? kNaN : mpfr_get_d(product, MPFR_RNDN);
}

}  // namespace assay
