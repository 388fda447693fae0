// Logarithms and inverse hyperbolic functions: log, asinh, acosh, atanh.
//
// Why the loops end: the logarithm of an algebraic number other than 0 and 1 is transcendental
// (Lindemann), and asinh, acosh, atanh of a rational are logarithms of algebraic numbers. The
// rational cases are `exact`.

#include "runtime/numeric/elementary_dd.h"
#include "runtime/numeric/elementary_impl.h"

namespace assay {

using elementary::not_a_number;
using Known = std::optional<Tailed>;

template <>
struct Impl<LogFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const LogFn&, double x) { return core::log(x); }
  static double core_full(const LogFn&, double x) { return core::log_full(x); }
  static Known exact(const LogFn&, double x) {
    if (x == 0) return Tailed{-core::kInfinity};
    if (x < 0) return not_a_number();
    if (std::isinf(x)) return Tailed{x};
    if (x == 1) return Tailed{0.0};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const LogFn&, mpfr_srcptr x) { mpfr_log(y, x, MPFR_RNDN); }
  static dd wide(const LogFn& fn, const dd& x) {
    // Next to 1 the small result needs more than dd's 106 bits of e^-y; below 2^-900 the low word
    // underflows.
    const bool hard = std::fabs(dd_hi(x) - 1) < 0x1p-10 || dd_hi(x) < 0x1p-900;
    return hard ? elementary::wide_by_mpfr(fn, x) : dd_log(x);
  }
};

// log(1 + t), t = a + a^2 / (1 + sqrt(a^2 + 1)), a = |x|: positive terms, t errs by less than 6 u,
// and log(1 + t) has condition number at most 1: 6 u + 2^-50. For floats a^2 < 2^256.
template <>
struct Impl<AsinhFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const AsinhFn&, double x) {
    const double a = core::magnitude(x);
    const double t = a + a * a / (1 + std::sqrt(a * a + 1));
    return core::with_sign(core::log1p(t), x);
  }
  static double core_full(const AsinhFn& fn, double x) {
    if (std::fabs(x) < 0x1p500) return core(fn, x);
    return std::copysign(core::log(std::fabs(x)) + core::kLn2, x);
  }
  static Known exact(const AsinhFn&, double x) {
    if (x == 0 || std::isinf(x)) return Tailed{x};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AsinhFn&, mpfr_srcptr x) {
    mpfr_asinh(y, x, MPFR_RNDN);
  }
};

// log(1 + t), t = d + sqrt(d (d + 2)), d = x - 1 (one rounding): t errs by less than 5 u.
template <>
struct Impl<AcoshFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const AcoshFn&, double x) {
    const double d = x - 1;
    const double y = core::log1p(d + std::sqrt(core::magnitude(d * (d + 2))));
    return core::select(x >= 1, core::select(x < core::kInfinity, y, core::kNaN), core::kNaN);
  }
  static double core_full(const AcoshFn& fn, double x) {
    return x < 0x1p500 ? core(fn, x) : core::log(x) + core::kLn2;
  }
  static Known exact(const AcoshFn&, double x) {
    if (x < 1) return not_a_number();
    if (x == 1) return Tailed{0.0};
    if (std::isinf(x)) return Tailed{x};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AcoshFn&, mpfr_srcptr x) {
    mpfr_acosh(y, x, MPFR_RNDN);
  }
};

// log(1 + 2a/(1 - a)) / 2, a = |x| < 1: the argument errs by 2 u.
template <>
struct Impl<AtanhFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const AtanhFn&, double x) {
    const double a = core::magnitude(x);
    const double y = core::log1p(2 * a / (1 - a)) * 0.5;
    return core::select(a < 1, core::with_sign(y, x), core::kNaN);
  }
  static double core_full(const AtanhFn& fn, double x) { return core(fn, x); }
  static Known exact(const AtanhFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::fabs(x) == 1) return Tailed{std::copysign(core::kInfinity, x)};
    if (std::fabs(x) > 1) return not_a_number();
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AtanhFn&, mpfr_srcptr x) {
    mpfr_atanh(y, x, MPFR_RNDN);
  }
};

ASSAY_ELEMENTARY(LogFn);
ASSAY_ELEMENTARY(AsinhFn);
ASSAY_ELEMENTARY(AcoshFn);
ASSAY_ELEMENTARY(AtanhFn);

}  // namespace assay
