// Softmax and normalizations correctly rounded to float64: the dd evaluation with an error bound,
// Ziv's test, and MPFR or an exact decision for the rest.
//
// w = 2^-102 stands for one dd operation (the largest error, of a quotient, is below 10 of the 16
// units 2^-106 in it); dd_exp errs by less than 4 w and dd_log by 8 w (1 + |log x|)
// (elementary_dd.h). The loops end as in rows_softmax.cpp and rows_exact.h.

#include <algorithm>
#include <cassert>
#include <vector>

#include "runtime/numeric/elementary.h"
#include "runtime/numeric/proved.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kWideUnit = 0x1p-102;
// dd loses its low word below 2^-969: results near there are left to MPFR.
constexpr double kUnderflow = 0x1p-1000;
constexpr mpfr_prec_t kExactDouble = 4700;

std::vector<dd> widen(std::span<const double> x) { return {x.begin(), x.end()}; }

double parameter(std::span<const double> values, std::size_t i, double absent) {
  if (values.empty()) return absent;
  return values[values.size() == 1 ? 0 : i];
}

// Sums of exponentials of one row at any precision.
class ExactExponentials {
 public:
  explicit ExactExponentials(std::span<const double> x)
      : x_(x),
        argmax_(static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin())) {}

  double largest() const { return x_[argmax_]; }
  bool regular() const {
    return std::isfinite(largest()) &&
           std::none_of(x_.begin(), x_.end(), [](double v) { return std::isnan(v); });
  }
  // One element is finite, all others are -inf.
  bool lonely() const { return std::count(x_.begin(), x_.end(), -kInfinity) + 1 == std::ssize(x_); }
  // x_i - max; the rounding at 64 bits more than needed moves e^d by less than 2^-50 of the unit.
  void difference(mpfr_ptr d, std::size_t i) const {
    mpfr_set_d(d, x_[i], MPFR_RNDN);
    mpfr_sub_d(d, d, largest(), MPFR_RNDN);
  }
  void rest(mpfr_ptr sum) const {
    Mpfr e(mpfr_get_prec(sum));
    mpfr_set_zero(sum, 1);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (i == argmax_) continue;
      difference(e, i);
      mpfr_exp(e, e, MPFR_RNDN);
      mpfr_add(sum, sum, e, MPFR_RNDN);
    }
  }
  double softmax(std::size_t i) const {
    return mpfr_ziv([&](mpfr_ptr y) {
             Mpfr sum(mpfr_get_prec(y) + 128);
             Mpfr e(mpfr_get_prec(y) + 128);
             rest(sum);
             mpfr_add_ui(sum, sum, 1, MPFR_RNDN);
             difference(e, i);
             mpfr_exp(e, e, MPFR_RNDN);
             mpfr_div(y, e, sum, MPFR_RNDN);
           })
        .value;
  }
  // base + sign log(1 + rest); `base` is a double or the difference of element i.
  double logarithm(double x, double minus, int sign) const {
    return mpfr_ziv([&](mpfr_ptr out) {
             for (mpfr_prec_t precision = mpfr_get_prec(out) + 128;; precision *= 2) {
               Mpfr log(precision);
               Mpfr y(precision + kDdPrecision);
               rest(log);
               mpfr_log1p(log, log, MPFR_RNDN);
               mpfr_set_d(y, x, MPFR_RNDN);
               mpfr_sub_d(y, y, minus, MPFR_RNDN);
               if (sign < 0) {
                 mpfr_sub(y, y, log, MPFR_RNDN);
               } else {
                 mpfr_add(y, y, log, MPFR_RNDN);
               }
               if (mpfr_zero_p(y.get())) continue;
               const mpfr_exp_t lost = mpfr_get_exp(log.get()) - mpfr_get_exp(y.get());
               if (lost > precision - mpfr_get_prec(out) - 64) continue;
               mpfr_set(out, y, MPFR_RNDN);
               return;
             }
           })
        .value;
  }

 private:
  std::span<const double> x_;
  std::size_t argmax_;
};

// Relative error of a dd sum of n exponentials, in lanes, is at most (depth + 4) w; twice what is
// given here is enough for softmax, with the numerator's 4 w and the quotient's w, and times 1 +
// |log| for log-softmax.
double sum_error(std::size_t n) { return kWideUnit * (8 + rows::depth(n)); }

// (n x - S1) gamma / sqrt(D) + beta as in rows_norm.cpp, in exact numbers of double size.
class ExactRow {
 public:
  ExactRow(std::span<const double> x, double epsilon, bool centred)
      : x_(x), d_(2 * kExactDouble), sum_(64) {
    DoubleAccumulator squares;
    DoubleAccumulator sum;
    for (const double value : x) {
      squares.add_product(value, value);
      if (centred) sum.add(value);
    }
    const auto n = static_cast<unsigned long>(x.size());
    Mpfr term(64);
    to_mpfr(term, squares);
    mpfr_mul_ui(d_, term, n, MPFR_RNDN);
    to_mpfr(sum_, sum);
    mpfr_set_prec(term, 2 * kExactDouble);
    mpfr_sqr(term, sum_, MPFR_RNDN);
    mpfr_sub(d_, d_, term, MPFR_RNDN);
    mpfr_set_d(term, epsilon, MPFR_RNDN);
    mpfr_mul_ui(term, term, n, MPFR_RNDN);
    mpfr_mul_ui(term, term, n, MPFR_RNDN);
    mpfr_add(d_, d_, term, MPFR_RNDN);
  }
  double output(std::size_t i, double gamma, double beta) {
    Mpfr a(kExactDouble);
    mpfr_set_d(a, x_[i], MPFR_RNDN);
    mpfr_mul_ui(a, a, static_cast<unsigned long>(x_.size()), MPFR_RNDN);
    mpfr_sub(a, a, sum_, MPFR_RNDN);
    mpfr_mul_d(a, a, gamma, MPFR_RNDN);
    if (mpfr_sgn(d_.get()) <= 0) {
      if (mpfr_sgn(d_.get()) < 0 || mpfr_zero_p(a.get())) return kNaN;
      return mpfr_sgn(a.get()) > 0 ? kInfinity : -kInfinity;
    }
    return exact_normalized(a, d_, beta).value;
  }

 private:
  std::span<const double> x_;
  Mpfr d_;
  Mpfr sum_;
};

// Errors of row_layer_norm<dd>, with K = n + 8 (any depth), A = mean|x|: the mean errs by K w A, so
// d by that and w |d|; 1/sigma relative by E = K w A / sigma + (K + 8) w; y by |gamma| K w A /
// sigma + |product| (E + 8 w) + w (|beta| + |y|).
void normalize(std::span<const double> input, const RowNormParameters<double>& p, bool centred,
               std::span<double> y) {
  assert(input.size() == y.size());
  if (input.empty()) return;
  const std::vector<double> x(input.begin(), input.end());
  if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); })) {
    return std::fill(y.begin(), y.end(), kNaN);
  }
  const std::vector<dd> wide = widen(x);
  std::vector<dd> normal(x.size());
  const RowNormParameters<dd> plain{.epsilon = dd(p.epsilon)};
  if (centred) {
    row_layer_norm(std::span<const dd>(wide), plain, std::span<dd>(normal));
  } else {
    row_rms_norm(std::span<const dd>(wide), plain, std::span<dd>(normal));
  }
  const auto n = static_cast<double>(x.size());
  const double size = rows::lane_sum(x.size(), [&](std::size_t i) { return std::fabs(x[i]); }) / n;
  const double square = rows::lane_sum(x.size(), [&](std::size_t i) { return x[i] * x[i]; }) / n;
  const double mean =
      centred ? rows::lane_sum(x.size(), [&](std::size_t i) { return x[i]; }) / n : 0;
  // A lower estimate of sigma; where cancellation leaves nothing of it, every element is decided
  // exactly.
  const double sigma = std::sqrt(square - mean * mean + p.epsilon - 0x1p-40 * square);
  const double from_mean = centred ? (n + 8) * kWideUnit * size / sigma : 0;
  std::optional<ExactRow> exact;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double gamma = parameter(p.gamma, i, 1.0);
    const double beta = parameter(p.beta, i, 0.0);
    const dd product = normal[i] * gamma;
    const dd value = product + beta;
    const double bound = std::fabs(gamma) * from_mean +
                         std::fabs(dd_hi(product)) * (from_mean + (n + 20) * kWideUnit) +
                         kWideUnit * (std::fabs(beta) + std::fabs(dd_hi(value))) + kUnderflow;
    const auto error = centred ? proved<"float64, layer normalization">(bound)
                               : proved<"float64, RMS normalization">(bound);
    if (const auto rounded = round_if_certain(value, error)) {
      y[i] = *rounded;
    } else if (std::isfinite(gamma) && std::isfinite(beta)) {
      if (!exact) exact.emplace(x, p.epsilon, centred);
      y[i] = exact->output(i, gamma, beta);
    } else {
      y[i] = kNaN;
    }
  }
}

double batch_norm_slow(double x, const RowBatchNorm<double>& p) {
  const bool finite = std::isfinite(x) && std::isfinite(p.mean) && std::isfinite(p.scale) &&
                      std::isfinite(p.bias) && std::isfinite(p.variance) &&
                      std::isfinite(p.epsilon);
  const double centred = x - p.mean;
  const double spread = p.variance + p.epsilon;
  if (!finite || !(spread > 0) || centred == 0 || p.scale == 0) {
    const double y = centred / std::sqrt(spread) * p.scale + p.bias;
    return std::isnan(y) ? kNaN : y;
  }
  Mpfr a(kExactDouble, x);
  mpfr_sub_d(a, a, p.mean, MPFR_RNDN);
  mpfr_mul_d(a, a, p.scale, MPFR_RNDN);
  Mpfr d(kExactDouble, p.variance);
  mpfr_add_d(d, d, p.epsilon, MPFR_RNDN);
  return exact_normalized(a, d, p.bias).value;
}

}  // namespace

void cr_softmax(std::span<const double> x, std::span<double> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const std::vector<double> copy(x.begin(), x.end());
  const ExactExponentials exact(copy);
  if (!exact.regular()) return std::fill(y.begin(), y.end(), kNaN);
  const std::vector<dd> wide = widen(copy);
  std::vector<dd> soft(copy.size());
  row_softmax(std::span<const dd>(wide), std::span<dd>(soft));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = dd_hi(soft[i]) * 2 * sum_error(y.size()) + kUnderflow;
    if (copy[i] == -kInfinity) {
      y[i] = 0;
    } else if (exact.lonely()) {
      y[i] = 1;
    } else {
      const auto rounded = round_if_certain(soft[i], proved<"float64, softmax">(error));
      y[i] = rounded ? *rounded : exact.softmax(i);
    }
  }
}

void cr_log_softmax(std::span<const double> x, std::span<double> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const std::vector<double> copy(x.begin(), x.end());
  const ExactExponentials exact(copy);
  if (!exact.regular()) return std::fill(y.begin(), y.end(), kNaN);
  const std::vector<dd> wide = widen(copy);
  std::vector<dd> soft(copy.size());
  row_log_softmax(std::span<const dd>(wide), std::span<dd>(soft));
  for (std::size_t i = 0; i < y.size(); ++i) {
    // The logarithm of the sum is at most the result's size plus that of the difference.
    const double size = 1 + std::fabs(dd_hi(soft[i])) + std::fabs(copy[i] - exact.largest());
    if (copy[i] == -kInfinity || exact.lonely()) {
      y[i] = copy[i] - exact.largest();
    } else {
      const double error = size * 2 * sum_error(y.size()) + kUnderflow;
      const auto rounded = round_if_certain(soft[i], proved<"float64, log-softmax">(error));
      y[i] = rounded ? *rounded : exact.logarithm(copy[i], exact.largest(), -1);
    }
  }
}

double cr_log_sum_exp(std::span<const double> x) {
  if (x.empty()) return -kInfinity;
  const ExactExponentials exact(x);
  if (!exact.regular()) {
    const bool nan = std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
    return nan ? kNaN : exact.largest();
  }
  return exact.lonely() ? exact.largest() : exact.logarithm(exact.largest(), 0.0, 1);
}

void cr_layer_norm(std::span<const double> x, const RowNormParameters<double>& parameters,
                   std::span<double> y) {
  normalize(x, parameters, true, y);
}

void cr_rms_norm(std::span<const double> x, const RowNormParameters<double>& parameters,
                 std::span<double> y) {
  normalize(x, parameters, false, y);
}

void cr_batch_norm(std::span<const double> x, const RowBatchNorm<double>& p, std::span<double> y) {
  assert(x.size() == y.size());
  const dd scale = dd(p.scale) / evaluate(SqrtFn{}, dd::add(p.variance, p.epsilon));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const dd product = dd::add(x[i], -p.mean) * scale;
    const dd value = product + p.bias;
    const double error =
        8 * kWideUnit * (std::fabs(dd_hi(product)) + std::fabs(p.bias)) + kUnderflow;
    const auto rounded = round_if_certain(value, proved<"float64, batch normalization">(error));
    y[i] = rounded ? *rounded : batch_norm_slow(x[i], p);
  }
}

}  // namespace assay
