// Powers and remainders.
//
// cr: e^(y log x) in double, Ziv's test, then mpfr_pow, which is correctly rounded for every pair,
// exact cases and ties included (it detects them), so nothing loops here.

#include "runtime/numeric/elementary_dd.h"
#include "runtime/numeric/elementary_impl.h"
#include "runtime/numeric/proved.h"

namespace assay {
namespace {

// log x errs by 2^-50 relative, the product by u: t = y log x by 2^-49.8 |t|; e^t by as much
// absolutely plus 2^-51. For results inside float's range |t| <= 104: at most 2^-43; the interval's
// ends round inside the rest.
constexpr double kError = 0x1p-42;

Tailed power_by_mpfr(double x, double y) {
  const Mpfr base(53, x);
  const Mpfr exponent(53, y);
  Mpfr z(60);
  const int inexact = mpfr_pow(z, base, exponent, MPFR_RNDZ);
  if (mpfr_nan_p(z.get())) return {.value = core::kNaN};
  return to_tailed(z, inexact);
}

template <class T>
bool is_odd(T y) {
  return std::fabs(y) < T(9007199254740992.0) && std::fmod(y, T(2)) != 0;
}

// The power of a positive finite x other than 1 whose result is inside the range of double by far.
double power_core(double x, double y) { return core::exp(y * core::log_full(x)); }

bool regular(double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && x != 0 && y != 0 && x != 1 &&
         (x > 0 || std::rint(y) == y);
}

}  // namespace

template <class Out>
Out cr_pow_as(float x, float y) {
  const double base = x;
  const double exponent = y;
  if (regular(base, exponent)) {
    double value = power_core(std::fabs(base), exponent);
    if (base < 0 && is_odd(exponent)) value = -value;
    const double error = proved<"float32, power">(kError).value;
    const Out rounded = narrow<Out>(value * (1 - error));
    if (same_bits(rounded, narrow<Out>(value * (1 + error)))) return rounded;
  }
  return round_tailed<Out>(power_by_mpfr(base, exponent));
}
template float cr_pow_as<float>(float, float);
template Half cr_pow_as<Half>(float, float);
template BFloat16 cr_pow_as<BFloat16>(float, float);

double cr_pow(double x, double y) { return power_by_mpfr(x, y).value; }

dd evaluate_pow(const dd& x, const dd& y) {
  const double base = dd_hi(x);
  const double exponent = dd_hi(y);
  if (dd_lo(y) == 0 && exponent == 1) return x;
  if (dd_lo(y) == 0 && exponent == 2) return x * x;
  if (!regular(base, exponent)) return {power_by_mpfr(base, exponent).value, 0.0};
  Mpfr wide_base(kDdPrecision);
  Mpfr wide_exponent(kDdPrecision);
  set_dd(wide_base, x);
  set_dd(wide_exponent, y);
  Mpfr z(140);
  mpfr_pow(z, wide_base, wide_exponent, MPFR_RNDN);
  if (mpfr_nan_p(z.get())) return {core::kNaN, 0.0};
  return get_dd(z);
}

double evaluate_pow(double x, double y) {
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (y == 0.5 && x > 0) return std::sqrt(x);
  if (!regular(x, y)) return power_by_mpfr(x, y).value;
  const double t = y * core::log_full(std::fabs(x));
  const bool inside = std::fabs(t) < 700 && std::fabs(x) > 0x1p-900;
  if (!inside) return power_by_mpfr(x, y).value;
  // y log x needs more than double: an error of 2^-100 there is one of 2^-90 in the power.
  const dd power = dd_exp(dd_log(dd(std::fabs(x))) * y);
  const double value = dd_hi(power);
  return x < 0 && is_odd(y) ? -value : value;
}

// fmod is exact in IEEE arithmetic, so every library returns the same bits; only the NaN is made
// canonical.
double fmod_exact(double x, double y) {
  const double rest = std::fmod(x, y);
  return std::isnan(rest) ? core::kNaN : rest;
}

float fmod_exact(float x, float y) {
  return static_cast<float>(fmod_exact(static_cast<double>(x), static_cast<double>(y)));
}

dd fmod_exact(const dd& x, const dd& y) {
  if (!std::isfinite(dd_hi(x)) || !std::isfinite(dd_hi(y)) || dd_hi(y) == 0) {
    return {fmod_exact(dd_hi(x), dd_hi(y)), 0.0};
  }
  Mpfr numerator(kDdPrecision);
  Mpfr denominator(kDdPrecision);
  set_dd(numerator, x);
  set_dd(denominator, y);
  Mpfr rest(kDdPrecision);
  mpfr_fmod(rest, numerator, denominator, MPFR_RNDN);
  return get_dd(rest);
}

}  // namespace assay
