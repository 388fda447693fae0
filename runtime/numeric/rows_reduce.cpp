// Correctly rounded reductions: sum, mean, sum|x|, sum x^2, L2 norm, log-sum, product.
//
// Each adds in double with a proved bound (depth * u * sum of magnitudes; squares of floats are
// exact), applies Ziv's test and falls back to the long accumulator, which decides ties exactly.
// Infinities and NaN follow IEEE addition.

#include <algorithm>
#include <cassert>
#include <optional>

#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

using rows::depth;
using rows::kUnit;
using rows::lane_sum;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float canonical(double value) { return std::isnan(value) ? kNaN : static_cast<float>(value); }

// The sign rule of an exact zero: +0 unless there are addends and all are -0.
float zero_sum(std::span<const float> x) {
  const bool negative = !x.empty() && std::all_of(x.begin(), x.end(), [](float v) {
    return v == 0 && std::signbit(v);
  });
  return negative ? -0.0F : 0.0F;
}

FloatAccumulator exact_sum(std::span<const float> x, bool magnitudes = false) {
  FloatAccumulator sum;
  for (const float value : x) sum.add(magnitudes ? std::fabs(value) : value);
  return sum;
}

FloatAccumulator exact_square_sum(std::span<const float> x) {
  FloatAccumulator sum;
  for (const float value : x) sum.add_product(value, value);
  return sum;
}

struct Sum {
  double value;
  double error;
};

Sum fast_sum(std::span<const float> x) {
  const double value = lane_sum(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]); });
  const double size =
      lane_sum(x.size(), [&](std::size_t i) { return std::fabs(static_cast<double>(x[i])); });
  return {value, proved<"float32, sum">(1.01 * depth(x.size()) * kUnit * size).value};
}

Sum fast_square_sum(std::span<const float> x) {
  const double value = lane_sum(x.size(), [&](std::size_t i) {
    return static_cast<double>(x[i]) * static_cast<double>(x[i]);
  });
  return {value, proved<"float32, sum of squares">(1.01 * depth(x.size()) * kUnit * value).value};
}

// The sum as a double where no addition rounds (short windows of similar values: a quarter of all 2
// x 2 means are ties, so this path is common).
std::optional<double> exact_double_sum(std::span<const float> x) {
  double sum = 0;
  double errors = 0;
  for (const float value : x) {
    double error = 0;
    sum = qd::two_sum(sum, static_cast<double>(value), error);
    errors += std::fabs(error);
  }
  // An infinite or NaN sum has a NaN error.
  return errors == 0 ? std::optional(sum) : std::nullopt;
}

// sum / divisor as its nearest double and the sign of the remainder, which two_prod gives exactly.
Tailed divided(double sum, double divisor) {
  const double q = sum / divisor;
  double low = 0;
  const double product = qd::two_prod(q, divisor, low);
  const double rest = (sum - product) - low;
  return {.value = q, .tail = rest > 0 ? 1 : (rest < 0 ? -1 : 0)};
}

}  // namespace

float cr_sum_over(std::span<const float> x, std::int64_t divisor) {
  assert(divisor > 0);
  const auto by = static_cast<double>(divisor);
  constexpr std::size_t kShort = 32;
  if (const auto exact = x.size() <= kShort ? exact_double_sum(x) : std::nullopt) {
    return *exact == 0 ? zero_sum(x) : round_tailed<float>(divided(*exact, by));
  }
  const Sum sum = fast_sum(x);
  if (!std::isfinite(sum.value)) return canonical(sum.value);
  const double quotient = sum.value / by;
  const double error = sum.error / by * (1 + 0x1p-50) + std::fabs(quotient) * kUnit;
  const auto rounded = round_if_certain<float>(quotient, proved<"float32, mean">(error));
  if (rounded && *rounded != 0) return *rounded;
  const FloatAccumulator exact = exact_sum(x);
  return exact.is_zero() ? zero_sum(x) : exact.round_quotient_to_float(divisor);
}

float cr_sum(std::span<const float> x) { return cr_sum_over(x, 1); }

float cr_mean(std::span<const float> x) {
  return x.empty() ? kNaN : cr_sum_over(x, static_cast<std::int64_t>(x.size()));
}

float cr_sum_abs(std::span<const float> x) {
  const double sum =
      lane_sum(x.size(), [&](std::size_t i) { return std::fabs(static_cast<double>(x[i])); });
  if (!std::isfinite(sum)) return canonical(sum);
  const auto error = proved<"float32, sum of magnitudes">(1.01 * depth(x.size()) * kUnit * sum);
  const auto rounded = round_if_certain<float>(sum, error);
  return rounded ? *rounded : exact_sum(x, true).round_to_float();
}

float cr_sum_square(std::span<const float> x) {
  const Sum sum = fast_square_sum(x);
  if (!std::isfinite(sum.value)) return canonical(sum.value);
  const auto rounded = round_if_certain<float>(sum.value, ProvedRadius{sum.error});
  return rounded ? *rounded : exact_square_sum(x).round_to_float();
}

// sqrt halves the relative error and adds u.
float cr_l2(std::span<const float> x) {
  const Sum sum = fast_square_sum(x);
  if (!std::isfinite(sum.value)) return canonical(sum.value);
  if (sum.value == 0) return 0.0F;
  const double root = std::sqrt(sum.value);
  const auto error = proved<"float32, L2 norm">(root * (0.51 * sum.error / sum.value + 2 * kUnit));
  if (const auto rounded = round_if_certain<float>(root, error)) return *rounded;
  Mpfr exact(64);
  to_mpfr(exact, exact_square_sum(x));
  Mpfr y(60);
  const int inexact = mpfr_sqrt(y, exact, MPFR_RNDZ);
  return round_tailed<float>(to_tailed(y, inexact));
}

// The logarithm of a rational other than 1 is transcendental, so the loop ends.
float cr_log_sum(std::span<const float> x) {
  const Sum sum = fast_sum(x);
  if (!std::isfinite(sum.value)) return sum.value > 0 ? kInfinity : kNaN;
  if (sum.value > 2 * sum.error && sum.value > 0) {
    const double y = evaluate(LogFn{}, sum.value);
    const double error = 2 * sum.error / sum.value + std::fabs(y) * f64_error(LogFn{});
    const auto rounded = round_if_certain<float>(y, proved<"float32, log of a sum">(error));
    if (rounded) return *rounded;
  }
  const FloatAccumulator accumulated = exact_sum(x);
  if (accumulated.sign() <= 0) return accumulated.is_zero() ? -kInfinity : kNaN;
  Mpfr exact(64);
  to_mpfr(exact, accumulated);
  if (mpfr_cmp_ui(exact.get(), 1) == 0) return 0.0F;
  return round_tailed<float>(mpfr_ziv([&](mpfr_ptr y) { mpfr_log(y, exact, MPFR_RNDN); }));
}

// The mantissas' product stays in [1/2, 1); n roundings err by n u. The exact product has 24 n
// bits.
float cr_prod(std::span<const float> x) {
  double mantissa = 1;
  std::int64_t exponent = 0;
  for (const float value : x) {
    int shift = 0;
    mantissa = std::frexp(mantissa * static_cast<double>(value), &shift);
    exponent += std::isfinite(mantissa) ? shift : 0;
  }
  if (!std::isfinite(mantissa) || mantissa == 0) return canonical(mantissa);
  const double y =
      std::ldexp(mantissa, static_cast<int>(std::clamp<std::int64_t>(exponent, -400, 400)));
  const auto error =
      proved<"float32, product">(std::fabs(y) * kUnit * 1.01 * static_cast<double>(x.size()));
  if (const auto rounded = round_if_certain<float>(y, error)) return *rounded;
  Mpfr exact(static_cast<mpfr_prec_t>(24 * x.size() + 64));
  mpfr_set_ui(exact, 1, MPFR_RNDN);
  for (const float value : x) mpfr_mul_d(exact, exact, static_cast<double>(value), MPFR_RNDN);
  return mpfr_get_flt(exact, MPFR_RNDN);
}

}  // namespace assay
