// Ziv's loop over MPFR and conversions (see elementary_mpfr.h).

#include "runtime/numeric/elementary_mpfr.h"

#include <cassert>

namespace assay {
namespace {

constexpr mpfr_prec_t kDecided = 60;
// 2^20 bits are never reached by an irrational value of a float or double argument; reaching them
// means that an exact case was overlooked.
constexpr mpfr_prec_t kRunaway = mpfr_prec_t{1} << 20;

}  // namespace

Tailed to_tailed(mpfr_ptr y, int inexact) {
  const double sign = mpfr_signbit(y) != 0 ? -1.0 : 1.0;
  if (mpfr_inf_p(y)) return {.value = sign * std::numeric_limits<double>::infinity()};
  if (mpfr_zero_p(y)) {
    return {.value = sign * 0.0, .tail = inexact == 0 ? 0 : static_cast<int>(sign)};
  }
  if (inexact != 0) {
    // One more bit stands for the rest: the value is now rounded to odd at 61 bits.
    mpfr_prec_round(y, mpfr_get_prec(y) + 1, MPFR_RNDN);
    if (sign > 0) {
      mpfr_nextabove(y);
    } else {
      mpfr_nextbelow(y);
    }
  }
  const double value = mpfr_get_d(y, MPFR_RNDN);
  const int order = mpfr_cmp_d(y, value);
  return {.value = value, .tail = order > 0 ? 1 : (order < 0 ? -1 : 0)};
}

Tailed mpfr_ziv(const MpfrApproximation& approximate) {
  for (mpfr_prec_t precision = 96;; precision *= 2) {
    assert(precision < kRunaway);
    Mpfr y(precision);
    approximate(y);
    assert(!mpfr_nan_p(y.get()));
    const bool outside = mpfr_zero_p(y.get()) || mpfr_inf_p(y.get());
    if (!outside && !mpfr_can_round(y, precision - 10, MPFR_RNDN, MPFR_RNDZ, kDecided)) continue;
    Mpfr rounded(kDecided);
    mpfr_set(rounded, y, MPFR_RNDZ);
    return to_tailed(rounded, 1);
  }
}

void set_dd(mpfr_ptr y, const dd& value) {
  mpfr_set_d(y, dd_hi(value), MPFR_RNDN);
  mpfr_add_d(y, y, dd_lo(value), MPFR_RNDN);
}

dd get_dd(mpfr_srcptr y) {
  const double high = mpfr_get_d(y, MPFR_RNDN);
  if (!std::isfinite(high)) return {high, 0.0};
  Mpfr rest(mpfr_get_prec(y));
  mpfr_sub_d(rest, y, high, MPFR_RNDN);
  return {high, mpfr_get_d(rest, MPFR_RNDN)};
}

}  // namespace assay
