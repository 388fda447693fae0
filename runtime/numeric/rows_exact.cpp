// Exact decisions for row functions (see rows_exact.h).

#include "runtime/numeric/rows_exact.h"

#include <algorithm>

namespace assay {

namespace {

template <class Accumulator>
void set_exactly(mpfr_ptr y, const Accumulator& sum) {
  const auto limbs = sum.settled_limbs();
  mpfr_set_prec(y, 32 * Accumulator::kLimbs + 64);
  mpfr_set_zero(y, 1);
  for (std::size_t i = limbs.size(); i-- > 0;) {
    mpfr_mul_2ui(y, y, 32, MPFR_RNDN);
    mpfr_add_si(y, y, static_cast<long>(limbs[i]), MPFR_RNDN);
  }
  mpfr_mul_2si(y, y, Accumulator::kLowExponent, MPFR_RNDN);
}

}  // namespace

void to_mpfr(mpfr_ptr y, const FloatAccumulator& sum) { set_exactly(y, sum); }
void to_mpfr(mpfr_ptr y, const DoubleAccumulator& sum) { set_exactly(y, sum); }

Tailed exact_quotient(mpfr_srcptr a, mpfr_srcptr b) {
  Mpfr y(60);
  const int inexact = mpfr_div(y, a, b, MPFR_RNDZ);
  return to_tailed(y, inexact);
}

namespace {

// Sets y within 2^(10-p) of a / sqrt(d) + b: the working precision grows while the two addends
// cancel.
void approximate_normalized(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr d, double b) {
  for (mpfr_prec_t precision = mpfr_get_prec(y) + 64;; precision *= 2) {
    Mpfr root(precision);
    Mpfr sum(precision);
    mpfr_sqrt(root, d, MPFR_RNDN);
    mpfr_div(root, a, root, MPFR_RNDN);
    mpfr_add_d(sum, root, b, MPFR_RNDN);
    if (mpfr_zero_p(sum.get())) continue;
    const mpfr_exp_t lost = mpfr_get_exp(root.get()) - mpfr_get_exp(sum.get());
    if (lost > precision - mpfr_get_prec(y) - 8) continue;
    mpfr_set(y, sum, MPFR_RNDN);
    return;
  }
}

}  // namespace

Tailed exact_normalized(mpfr_srcptr a, mpfr_srcptr d, double b) {
  if (mpfr_zero_p(a)) return {.value = b};
  Mpfr root(kExactRow);
  if (mpfr_sqrt(root, d, MPFR_RNDZ) != 0) {
    return mpfr_ziv([&](mpfr_ptr y) { approximate_normalized(y, a, d, b); });
  }
  Mpfr numerator(2 * kExactRow);
  mpfr_mul_d(numerator, root, b, MPFR_RNDN);
  mpfr_add(numerator, numerator, a, MPFR_RNDN);
  if (mpfr_zero_p(numerator.get())) return {.value = 0.0};
  return exact_quotient(numerator, root);
}

}  // namespace assay
