// Correctly rounded softmax, log-softmax and log-sum-exp of a row.
//
// With m = max x, d_i = x_i - m and e_i = e^(d_i): softmax is e_i / sum e, log-softmax d_i - log(1
// + r), log-sum-exp m + log(1 + r), r the sum of e without one maximal element (so that nothing
// cancels when the others are tiny).
//
// Double: d_i errs by u |d_i|. Where e_i matters to a float result |d_i| <= 150, so e_i errs by
// 2^-51 + 150 u < 2^-45.7 relative, and sums of these by that and depth * u. Undecided elements use
// a double-double sum (made once per row), then MPFR.
//
// The loops end (Lindemann-Weierstrass): sums of e^(rational) with different exponents and rational
// coefficients that are not all zero do not vanish. e_i / sum = q rational would need sum_j q
// e^(x_j - x_i) = 1, possible only if all finite x_j are equal: then the value is 1/n, a tie for no
// n. For the logarithms e^(y) = ... is impossible for the same reason as soon as two elements are
// finite.

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "runtime/numeric/elementary_dd.h"
#include "runtime/numeric/proved.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kTermError = 0x1p-45;
constexpr double kWideError = 0x1p-99;  // of dd_exp and dd_log (elementary_dd.h)

ASSAY_CORE void exponentials(const float* __restrict x, double largest, double* __restrict e) {
  for (std::size_t i = 0; i < 64; ++i) {
    const double d = static_cast<double>(x[i]) - largest;
    e[i] = core::select(d == -kInfinity, 0.0, core::exp(d));
  }
}
void exponentials_base(const float* x, double largest, double* e) { exponentials(x, largest, e); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void exponentials_avx2(const float* x, double largest, double* e) {
  exponentials(x, largest, e);
}
#else
void exponentials_avx2(const float* x, double largest, double* e) { exponentials(x, largest, e); }
#endif

class Row {
 public:
  explicit Row(std::span<const float> x) : x_(x) {
    argmax_ = static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
    largest_ = static_cast<double>(x[argmax_]);
    // NaN compares false with everything, so the maximum does not find it.
    regular_ = std::isfinite(largest_) &&
               std::none_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
    if (regular_) fill();
  }

  bool regular() const { return regular_; }
  double largest() const { return largest_; }
  double term(std::size_t i) const { return e_[i]; }
  double difference(std::size_t i) const { return static_cast<double>(x_[i]) - largest_; }
  // Sum of all terms but the largest one's; 0 exactly when all others are -inf.
  double rest() const { return rest_; }
  double error() const { return kTermError + 1.01 * rows::kUnit * rows::depth(x_.size()); }

  dd wide_difference(std::size_t i) const { return dd::add(static_cast<double>(x_[i]), -largest_); }
  const dd& wide_rest() const {
    if (!wide_rest_) {
      dd sum = 0.0;
      for (std::size_t i = 0; i < x_.size(); ++i) {
        if (i != argmax_) sum += dd_exp(wide_difference(i));
      }
      wide_rest_ = sum;
    }
    return *wide_rest_;
  }
  // Relative error of wide_rest, of dd_exp, and with the quotient's rounding of half of softmax.
  double wide_error() const { return kWideError + 0x1p-102 * static_cast<double>(x_.size() + 1); }

  void exact_difference(mpfr_ptr y, std::size_t i) const {
    mpfr_set_d(y, static_cast<double>(x_[i]), MPFR_RNDN);
    mpfr_sub_d(y, y, largest_, MPFR_RNDN);
  }
  void approximate_rest(mpfr_ptr sum) const {
    Mpfr d(mpfr_get_prec(sum) + 300);
    Mpfr e(mpfr_get_prec(sum));
    mpfr_set_zero(sum, 1);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (i == argmax_) continue;
      exact_difference(d, i);
      mpfr_exp(e, d, MPFR_RNDN);
      mpfr_add(sum, sum, e, MPFR_RNDN);
    }
  }

 private:
  void fill() {
    const auto run = current_isa() >= Isa::avx2 ? exponentials_avx2 : exponentials_base;
    e_.resize((x_.size() + 63) / 64 * 64);
    std::size_t i = 0;
    for (; i + 64 <= x_.size(); i += 64) run(x_.data() + i, largest_, e_.data() + i);
    if (i < x_.size()) {
      float last[64] = {};
      std::copy(x_.begin() + static_cast<std::ptrdiff_t>(i), x_.end(), last);
      run(last, largest_, e_.data() + i);
    }
    const double own = e_[argmax_];
    e_[argmax_] = 0;
    rest_ = rows::lane_sum(x_.size(), [&](std::size_t j) { return e_[j]; });
    e_[argmax_] = own;
  }

  std::span<const float> x_;
  std::size_t argmax_ = 0;
  double largest_ = 0;
  bool regular_ = false;
  std::vector<double> e_;
  double rest_ = 0;
  mutable std::optional<dd> wide_rest_;
};

// Ziv's test on a double-double.
std::optional<float> decide(const dd& y, ProvedRadius error) {
  const dd low = y - error.value;
  const dd high = y + error.value;
  const auto sign = [](double v) { return v > 0 ? 1 : (v < 0 ? -1 : 0); };
  const float a = round_tailed<float>({.value = dd_hi(low), .tail = sign(dd_lo(low))});
  const float b = round_tailed<float>({.value = dd_hi(high), .tail = sign(dd_lo(high))});
  return same_bits(a, b) ? std::optional(a) : std::nullopt;
}

float slow_softmax(const Row& row, std::size_t i) {
  const dd y = dd_exp(row.wide_difference(i)) / (row.wide_rest() + 1.0);
  const auto error = proved<"dd, softmax">(2 * row.wide_error() * dd_hi(y));
  if (const auto rounded = decide(y, error)) return *rounded;
  return round_tailed<float>(mpfr_ziv([&](mpfr_ptr out) {
    const mpfr_prec_t precision = mpfr_get_prec(out) + 64;
    Mpfr sum(precision);
    Mpfr d(precision + 300);
    row.approximate_rest(sum);
    mpfr_add_ui(sum, sum, 1, MPFR_RNDN);
    row.exact_difference(d, i);
    mpfr_exp(out, d, MPFR_RNDN);
    mpfr_div(out, out, sum, MPFR_RNDN);
  }));
}

// shift + log(1 + r), negated where asked: the two logarithmic forms. `base` is exact.
template <class SetBase>
float slow_log(const Row& row, SetBase set_base, bool negative) {
  return round_tailed<float>(mpfr_ziv([&](mpfr_ptr out) {
    for (mpfr_prec_t precision = mpfr_get_prec(out) + 64;; precision *= 2) {
      Mpfr log(precision);
      Mpfr base(precision + 300);
      row.approximate_rest(log);
      mpfr_log1p(log, log, MPFR_RNDN);
      set_base(base);
      Mpfr y(precision);
      if (negative) {
        mpfr_sub(y, base, log, MPFR_RNDN);
      } else {
        mpfr_add(y, base, log, MPFR_RNDN);
      }
      if (mpfr_zero_p(y.get())) continue;
      const mpfr_exp_t lost = mpfr_get_exp(log.get()) - mpfr_get_exp(y.get());
      if (lost > precision - mpfr_get_prec(out) - 32) continue;
      mpfr_set(out, y, MPFR_RNDN);
      return;
    }
  }));
}

// log(1 + r) in double-double: log of the dd sum, which is fine unless r is tiny.
std::optional<float> log_in_dd(const Row& row, const dd& base, bool negative) {
  if (dd_hi(row.wide_rest()) < 0x1p-8) return std::nullopt;
  const dd log = dd_log(row.wide_rest() + 1.0);
  const dd y = negative ? base - log : base + log;
  const double error =
      kWideError * (dd_hi(log) + 1) + 0x1p-102 * std::fabs(dd_hi(base)) + 2 * row.wide_error();
  return decide(y, proved<"dd, log of a sum of exponentials">(error));
}

void fill_nan(std::span<float> y) { std::fill(y.begin(), y.end(), kNaN); }

}  // namespace

void cr_softmax(std::span<const float> x, std::span<float> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const std::vector<float> copy =
      x.data() == y.data() ? std::vector(x.begin(), x.end()) : std::vector<float>();
  const Row row(copy.empty() ? x : std::span<const float>(copy));
  if (!row.regular()) return fill_nan(y);
  const double sum = row.rest() + 1;
  const double error = proved<"float32, softmax">(2 * row.error()).value;
  const double low = 1 - error;
  const double high = 1 + error;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = row.term(i) / sum;
    const auto rounded = static_cast<float>(value * low);
    y[i] = rounded == static_cast<float>(value * high) ? rounded : slow_softmax(row, i);
  }
}

void cr_log_softmax(std::span<const float> x, std::span<float> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const std::vector<float> copy =
      x.data() == y.data() ? std::vector(x.begin(), x.end()) : std::vector<float>();
  const Row row(copy.empty() ? x : std::span<const float>(copy));
  if (!row.regular()) return fill_nan(y);
  if (row.rest() == 0) {  // one finite element
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(row.difference(i));
    return;
  }
  const double log = core::log1p(row.rest());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double value = row.difference(i) - log;
    if (value == -kInfinity) {
      y[i] = static_cast<float>(value);
      continue;
    }
    const double error = log * (row.error() + 0x1p-49) + std::fabs(value) * 0x1p-51;
    const auto radius = proved<"float32, log-softmax">(error);
    if (const auto rounded = round_if_certain<float>(value, radius)) {
      y[i] = *rounded;
      continue;
    }
    const auto decided = log_in_dd(row, row.wide_difference(i), true);
    y[i] = decided ? *decided
                   : slow_log(
                         row, [&](mpfr_ptr base) { row.exact_difference(base, i); }, true);
  }
}

float cr_log_sum_exp(std::span<const float> x) {
  if (x.empty()) return -std::numeric_limits<float>::infinity();
  const Row row(x);
  if (!row.regular()) {
    const bool nan = std::any_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
    return nan ? kNaN : static_cast<float>(row.largest());
  }
  if (row.rest() == 0) return static_cast<float>(row.largest());
  const double log = core::log1p(row.rest());
  const double value = row.largest() + log;
  const double error = log * (row.error() + 0x1p-49) + std::fabs(value) * 0x1p-51;
  const auto radius = proved<"float32, log-sum-exp">(error);
  if (const auto rounded = round_if_certain<float>(value, radius)) return *rounded;
  if (const auto decided = log_in_dd(row, dd(row.largest()), false)) return *decided;
  return slow_log(
      row, [&](mpfr_ptr y) { mpfr_set_d(y, row.largest(), MPFR_RNDN); }, false);
}

}  // namespace assay
