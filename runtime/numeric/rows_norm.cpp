// Correctly rounded LayerNorm-like rows: one rounding of the exact composite per output.
//
// With S1 = sum x, S2 = sum x^2 (exact), N_i = n x_i - S1 and D = n S2 - S1^2 + n^2 epsilon:
//   (x_i - mean) / sqrt(variance + epsilon) = N_i / sqrt(D),  1 / sqrt(variance + epsilon) = n /
//   sqrt(D), x_i / sqrt(mean(x^2) + epsilon) = n x_i / sqrt(n S2 + n^2 epsilon).
// So every output is a / sqrt(d) + b of exact numbers, and exact_normalized decides whatever double
// does not.
//
// Errors in double, in units of u = 2^-53, K = depth(n) (rows_lanes.h), sigma = sqrt(variance +
// epsilon):
//   centre  m = S1/n, then c = sum(x - m)/n: x - m rounds by |x - m|; the mean of these errs by (K
//   + 1) mean|x - m| <=
//           (K + 1) sigma' and d = (x - m) - c by 2 |d| + (K + 4) sigma' in all, sigma' = the root
//           mean square of x - m, sigma'^2 = variance + c^2, so sigma' <= sigma (1 + drift), drift
//           = |c| / sigma;
//   variance relative 2 (2 + K + 4) + K + 2 (Cauchy-Schwarz), so 1/sigma relative (3 K + 14)/2 + 3;
//   y = d (gamma / sigma) + beta: |gamma| (K + 5) + |d gamma / sigma| (1.5 K + 16) + |beta| + |y|.

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "runtime/numeric/proved.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

using rows::depth;
using rows::kUnit;
using rows::lane_sum;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// gamma and beta of element i: per element, one for the row, or absent.
double parameter(std::span<const float> values, std::size_t i, double absent) {
  if (values.empty()) return absent;
  return static_cast<double>(values[values.size() == 1 ? 0 : i]);
}

// Exact row sums, made once when the first element needs them.
class ExactRow {
 public:
  ExactRow(std::span<const float> x, float epsilon, bool centred)
      : x_(x), d_(kExactRow), sum_(kExactRow) {
    FloatAccumulator squares;
    FloatAccumulator sum;
    for (const float value : x) {
      squares.add_product(value, value);
      if (centred) sum.add(value);
    }
    const auto n = static_cast<unsigned long>(x.size());
    Mpfr term(kExactRow);
    to_mpfr(term, squares);
    mpfr_mul_ui(d_, term, n, MPFR_RNDN);
    to_mpfr(term, sum);
    mpfr_set(sum_, term, MPFR_RNDN);
    mpfr_set_prec(term, kExactRow);
    mpfr_sqr(term, sum_, MPFR_RNDN);
    mpfr_sub(d_, d_, term, MPFR_RNDN);
    mpfr_set_d(term, static_cast<double>(epsilon), MPFR_RNDN);
    mpfr_mul_ui(term, term, n, MPFR_RNDN);
    mpfr_mul_ui(term, term, n, MPFR_RNDN);
    mpfr_add(d_, d_, term, MPFR_RNDN);
  }

  // (n x_i - S1) gamma / sqrt(D) + beta; S1 is 0 where the row is not centred.
  float output(std::size_t i, double gamma, double beta) const {
    Mpfr a(kExactRow);
    numerator(a, i);
    mpfr_mul_d(a, a, gamma, MPFR_RNDN);
    return finish(a, beta);
  }
  float inv_std() const {
    Mpfr n(kExactRow);
    mpfr_set_ui(n, static_cast<unsigned long>(x_.size()), MPFR_RNDN);
    return finish(n, 0.0);
  }

 private:
  void numerator(mpfr_ptr a, std::size_t i) const {
    mpfr_set_d(a, static_cast<double>(x_[i]), MPFR_RNDN);
    mpfr_mul_ui(a, a, static_cast<unsigned long>(x_.size()), MPFR_RNDN);
    mpfr_sub(a, a, sum_, MPFR_RNDN);
  }
  float finish(Mpfr& a, double beta) const {
    Mpfr d(kExactRow);
    mpfr_set(d, d_, MPFR_RNDN);
    if (mpfr_sgn(d.get()) < 0) return kNaN;
    if (mpfr_zero_p(d.get())) {
      if (mpfr_zero_p(a.get())) return kNaN;
      return mpfr_sgn(a.get()) > 0 ? std::numeric_limits<float>::infinity()
                                   : -std::numeric_limits<float>::infinity();
    }
    if (mpfr_zero_p(a.get())) return static_cast<float>(beta + 0.0);
    return round_tailed<float>(exact_normalized(a, d, beta));
  }

  std::span<const float> x_;
  Mpfr d_;
  Mpfr sum_;
};

struct Normalizer {
  std::span<const float> x;
  const NormParameters& parameters;
  bool centred;
  std::optional<ExactRow> exact = {};

  float slow(std::size_t i) {
    if (!exact) exact.emplace(x, parameters.epsilon, centred);
    return exact->output(i, parameter(parameters.gamma, i, 1.0),
                         parameter(parameters.beta, i, 0.0));
  }
};

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

// The deviations d (d = x where not centred) and 1/sigma.
struct Deviations {
  std::vector<double> d;
  double inv_std;
  double drift = 0;
};

Deviations deviations(std::span<const float> x, double epsilon, bool centred) {
  const auto n = static_cast<double>(x.size());
  Deviations result{std::vector<double>(x.begin(), x.end()), 0};
  std::vector<double>& d = result.d;
  for (int pass = 0; centred && pass < 2; ++pass) {
    const double mean = lane_sum(d.size(), [&](std::size_t i) { return d[i]; }) / n;
    for (double& value : d) value -= mean;
    result.drift = std::fabs(mean);
  }
  const double squares = lane_sum(d.size(), [&](std::size_t i) { return d[i] * d[i]; });
  result.inv_std = 1 / std::sqrt(squares / n + epsilon);
  result.drift *= result.inv_std;
  return result;
}

void normalize(std::span<const float> input, const NormParameters& p, bool centred,
               std::span<float> y) {
  assert(input.size() == y.size());
  assert(p.gamma.size() <= 1 || p.gamma.size() == input.size());
  assert(p.beta.size() <= 1 || p.beta.size() == input.size());
  if (input.empty()) return;
  // A NaN or an infinity in the row reaches every output: inf - inf in the deviations, or inf /
  // inf.
  if (!finite(input)) return std::fill(y.begin(), y.end(), kNaN);
  const std::vector<float> x(input.begin(), input.end());
  Normalizer exact{x, p, centred};
  const Deviations row = deviations(x, static_cast<double>(p.epsilon), centred);
  const double k = depth(x.size()) * (1.01 + row.drift);
  const double from_sigma = centred ? kUnit * (k + 6 * (1 + row.drift)) : 0;
  const double from_product = kUnit * (1.5 * k + 18 * (1 + row.drift));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double gamma = parameter(p.gamma, i, 1.0);
    const double beta = parameter(p.beta, i, 0.0);
    const double product = row.d[i] * (row.inv_std * gamma);
    const double value = product + beta;
    const double bound = from_sigma * std::fabs(gamma) + from_product * std::fabs(product) +
                         2 * kUnit * (std::fabs(beta) + std::fabs(value));
    const double error = centred ? proved<"float32, layer normalization">(bound).value
                                 : proved<"float32, RMS normalization">(bound).value;
    const auto low = static_cast<float>(value - error);
    const auto high = static_cast<float>(value + error);
    const bool plain_zero = !centred && row.d[i] == 0;
    if (low == high && (low != 0 || plain_zero)) {
      y[i] = low;
    } else if (std::isfinite(gamma) && std::isfinite(beta)) {
      y[i] = exact.slow(i);
    } else {
      y[i] = std::isnan(value) ? kNaN : static_cast<float>(value);
    }
  }
}

}  // namespace

void cr_layer_norm(std::span<const float> x, const NormParameters& parameters, std::span<float> y) {
  normalize(x, parameters, true, y);
}

void cr_rms_norm(std::span<const float> x, const NormParameters& parameters, std::span<float> y) {
  normalize(x, parameters, false, y);
}

MeanAndInvStd cr_row_statistics(std::span<const float> x, float epsilon) {
  if (x.empty() || !finite(x)) return {cr_mean(x), kNaN};
  const Deviations row = deviations(x, static_cast<double>(epsilon), true);
  const double error = row.inv_std * kUnit * (1.5 * depth(x.size()) + 14) * (1.01 + row.drift);
  const auto rounded = round_if_certain<float>(row.inv_std, proved<"float32, 1/sigma">(error));
  return {cr_mean(x), rounded ? *rounded : ExactRow(x, epsilon, true).inv_std()};
}

void cr_lp_normalize(std::span<const float> x, int p, std::span<float> y) {
  assert(p == 1 || p == 2);
  assert(x.size() == y.size());
  if (!finite(x)) return std::fill(y.begin(), y.end(), kNaN);
  FloatAccumulator accumulated;
  for (const float value : x) {
    if (p == 1) {
      accumulated.add(std::fabs(value));
    } else {
      accumulated.add_product(value, value);
    }
  }
  if (accumulated.is_zero()) {
    std::copy(x.begin(), x.end(), y.begin());
    return;
  }
  Mpfr sum(64);
  to_mpfr(sum, accumulated);
  const double total = accumulated.round_to_double();
  const double norm = p == 1 ? total : std::sqrt(total);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = static_cast<double>(x[i]) / norm;
    const auto error = proved<"float32, Lp normalization">(std::fabs(value) * 3 * kUnit);
    const auto rounded = round_if_certain<float>(value, error);
    if (rounded) {
      y[i] = *rounded;
      continue;
    }
    const Mpfr a(53, static_cast<double>(x[i]));
    y[i] = round_tailed<float>(p == 1 ? exact_quotient(a, sum) : exact_normalized(a, sum, 0.0));
  }
}

}  // namespace assay
