// The exponential family: exp, sigmoid, tanh, sinh, cosh, softplus, swish, mish, elu, celu, selu.
//
// Why every loop ends: for a rational argument other than 0 each of these is a rational function of
// e^r, r rational and not 0, that is not constant, hence transcendental (Lindemann), or an argument
// times such a value: never a rounding boundary, which is rational. The rational cases (argument 0,
// the linear branch of the ELUs, infinities, and the ranges where the rest is below every gap) are
// `exact`.

#include "runtime/numeric/elementary_dd.h"
#include "runtime/numeric/elementary_impl.h"

namespace assay {

using elementary::just_inside;
using elementary::just_outside;
using elementary::not_a_number;
using Known = std::optional<Tailed>;

// Relative error of the core is that of core::exp, 2^-51.
template <>
struct Impl<ExpFn> {
  static constexpr double kError = 0x1p-49;
  static constexpr double kError64 = 0x1p-50;
  ASSAY_CORE static double core(const ExpFn&, double x) { return core::exp(x); }
  static double core_full(const ExpFn&, double x) { return core::exp_full(x); }
  static Known exact(const ExpFn&, double x) {
    if (x == 0) return Tailed{1.0};
    if (std::isinf(x)) return Tailed{x > 0 ? x : 0.0};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const ExpFn&, mpfr_srcptr x) { mpfr_exp(y, x, MPFR_RNDN); }
  static dd wide(const ExpFn&, const dd& x) { return dd_exp(x); }
};

// e^-x errs by 2^-51, 1 + e^-x and the quotient by u each: at most 2^-50.
template <>
struct Impl<SigmoidFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const SigmoidFn&, double x) { return 1 / (1 + core::exp(-x)); }
  static double core_full(const SigmoidFn&, double x) {
    // Far to the left 1 + e^-x = e^-x (1 + 2^-53 or less).
    return x < -40 ? core::exp_full(x) : 1 / (1 + core::exp(-x));
  }
  static Known exact(const SigmoidFn&, double x) {
    if (x == 0) return Tailed{0.5};
    if (std::isinf(x)) return Tailed{x > 0 ? 1.0 : 0.0};
    if (x > 40) return just_inside(1.0);  // 1 - e^-40 is within 2^-57 of 1
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SigmoidFn&, mpfr_srcptr x) {
    Mpfr power(mpfr_get_prec(y));
    mpfr_neg(power, x, MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    mpfr_add_ui(power, power, 1, MPFR_RNDN);
    mpfr_ui_div(y, 1, power, MPFR_RNDN);
  }
  static dd wide(const SigmoidFn&, const dd& x) {
    return dd_hi(x) < -80 ? dd_exp(x) : dd(1.0) / (dd_exp(-x) + 1.0);
  }
};

// t = e^(2|x|) - 1 errs by 2^-50; t / (t + 2) depends on it with a condition number 2/(t + 2) <= 1,
// and rounds twice: at most 2^-49. From |x| = 20 on the clamped value is within 2^-57 of 1, as is
// the exact one.
template <>
struct Impl<TanhFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const TanhFn&, double x) {
    const double t = core::expm1(core::clamp(2 * core::magnitude(x), 0, 40));
    return core::with_sign(t / (t + 2), x);
  }
  static double core_full(const TanhFn& fn, double x) { return core(fn, x); }
  static Known exact(const TanhFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return Tailed{std::copysign(1.0, x)};
    if (std::fabs(x) > 20) return just_inside(std::copysign(1.0, x));
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const TanhFn&, mpfr_srcptr x) { mpfr_tanh(y, x, MPFR_RNDN); }
  static dd wide(const TanhFn&, const dd& x) {
    if (std::fabs(dd_hi(x)) > 80) return {std::copysign(1.0, dd_hi(x)), 0.0};
    const dd t = dd_expm1(x * 2.0);
    return t / (t + 2.0);
  }
};

// t = e^|x| - 1; (t + t/(t + 1)) / 2 adds two positive numbers: 2^-50 and three roundings, at most
// 2^-49.
template <>
struct Impl<SinhFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const SinhFn&, double x) {
    const double t = core::expm1(core::clamp(core::magnitude(x), 0, 700));
    return core::with_sign((t + t / (t + 1)) * 0.5, x);
  }
  static double core_full(const SinhFn& fn, double x) {
    if (!(std::fabs(x) > 40)) return core(fn, x);
    const double root = core::exp_full(std::fabs(x) / 2);  // the halving is exact
    return std::copysign(root / 2 * root, x);
  }
  static Known exact(const SinhFn&, double x) {
    if (x == 0 || std::isinf(x)) return Tailed{x};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SinhFn&, mpfr_srcptr x) { mpfr_sinh(y, x, MPFR_RNDN); }
};

template <>
struct Impl<CoshFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const CoshFn&, double x) {
    const double e = core::exp(core::magnitude(x));
    return (e + 1 / e) * 0.5;
  }
  static double core_full(const CoshFn& fn, double x) {
    if (!(std::fabs(x) > 40)) return core(fn, x);
    const double root = core::exp_full(std::fabs(x) / 2);
    return root / 2 * root;
  }
  static Known exact(const CoshFn&, double x) {
    if (x == 0) return Tailed{1.0};
    if (std::isinf(x)) return Tailed{std::fabs(x)};
    if (std::fabs(x) < 0x1p-40) return just_outside(1.0);  // 1 + x^2/2
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const CoshFn&, mpfr_srcptr x) { mpfr_cosh(y, x, MPFR_RNDN); }
};

// max(x, 0) + log(1 + e^-|x|): positive addends; the logarithm's argument errs by 2^-51 and its
// condition number is at most 1, so 2^-51 + 2^-50 + u: at most 2^-49.
template <>
struct Impl<SoftplusFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const SoftplusFn&, double x) {
    const double rest = core::log1p(core::exp(-core::magnitude(x)));
    return core::select(x > 0, x, 0.0) + rest;
  }
  static double core_full(const SoftplusFn& fn, double x) {
    return x < -40 ? core::exp_full(x) : core(fn, x);
  }
  static Known exact(const SoftplusFn&, double x) {
    if (std::isinf(x)) return Tailed{x > 0 ? x : 0.0};
    if (x > 100) return just_outside(x);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SoftplusFn&, mpfr_srcptr x) {
    mpfr_exp(y, x, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
  }
};

// alpha x is exact for floats. e^.. errs by 2^-51, the sum and the quotient by u: at most 2^-50. In
// double the product's rounding moves the power by u |alpha x| <= 745 u.
template <>
struct Impl<SwishFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-43;
  ASSAY_CORE static double core(const SwishFn& fn, double x) {
    return core::if_finite(x, x / (1 + core::exp(-(static_cast<double>(fn.alpha) * x))));
  }
  static double core_full(const SwishFn& fn, double x) {
    const double t = static_cast<double>(fn.alpha) * x;
    if (!(t < -40)) return x / (1 + core::exp(-t));
    const double root = core::exp_full(t / 2);
    return x * root * root;
  }
  static Known exact(const SwishFn& fn, double x) {
    const double t = static_cast<double>(fn.alpha) * x;
    if (std::isnan(t)) return not_a_number();  // alpha or x infinite, the other 0
    if (t == 0) return Tailed{x / 2};
    if (std::isinf(x)) return t > 0 ? Tailed{x} : not_a_number();
    if (std::isinf(t)) return Tailed{t > 0 ? x : 0 * x};
    if (t > 100) return just_inside(x);
    if (elementary::is_tiny(x) && std::fabs(fn.alpha) <= 1) {
      return elementary::half_and_more(x, static_cast<double>(fn.alpha));  // 1/2 + alpha x / 4
    }
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SwishFn& fn, mpfr_srcptr x) {
    Mpfr power(mpfr_get_prec(y));
    mpfr_mul_d(power, x, -static_cast<double>(fn.alpha), MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    mpfr_add_ui(power, power, 1, MPFR_RNDN);
    mpfr_div(y, x, power, MPFR_RNDN);
  }
  static dd wide(const SwishFn& fn, const dd& x) {
    const dd t = x * static_cast<double>(fn.alpha);
    return dd_hi(t) < -300 ? x * dd_exp(t) : x / (dd_exp(-t) + 1.0);
  }
};

// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e = e^x: positive terms. n errs by 2 * 2^-51 +
// 2 u, the quotient's condition number is at most 1, three more roundings: at most 2^-49.
template <>
struct Impl<MishFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double core(const MishFn&, double x) {
    const double e = core::exp(core::clamp(x, -700, 40));
    const double n = e * (e + 2);
    return core::if_finite(x, x * (n / (n + 2)));
  }
  static double core_full(const MishFn& fn, double x) {
    return x < -60 ? x * core::exp_full(x) : core(fn, x);  // n / (n + 2) = e (1 + 2^-86)
  }
  static Known exact(const MishFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return x > 0 ? Tailed{x} : not_a_number();
    if (x > 40) return just_inside(x);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const MishFn&, mpfr_srcptr x) {
    Mpfr e(mpfr_get_prec(y));
    Mpfr n(mpfr_get_prec(y));
    mpfr_exp(e, x, MPFR_RNDN);
    mpfr_add_ui(n, e, 2, MPFR_RNDN);
    mpfr_mul(n, n, e, MPFR_RNDN);
    mpfr_add_ui(e, n, 2, MPFR_RNDN);
    mpfr_div(n, n, e, MPFR_RNDN);
    mpfr_mul(y, x, n, MPFR_RNDN);
  }
};

// The left branch of the ELUs: scale (e^t - 1). A float scale's product with e^t - 1 rounds once:
// 2^-50 + u.
template <>
struct Impl<EluFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const EluFn& fn, double x) {
    return core::select(x < 0, static_cast<double>(fn.alpha) * core::expm1(x), x);
  }
  static double core_full(const EluFn& fn, double x) { return core(fn, x); }
  static Known exact(const EluFn& fn, double x) {
    if (x >= 0) return Tailed{x};
    const double alpha = static_cast<double>(fn.alpha);
    if (std::isinf(x) || alpha == 0 || !std::isfinite(alpha)) return Tailed{-alpha};
    if (x < -50) return just_inside(-alpha);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const EluFn& fn, mpfr_srcptr x) {
    mpfr_expm1(y, x, MPFR_RNDN);
    mpfr_mul_d(y, y, static_cast<double>(fn.alpha), MPFR_RNDN);
  }
  static dd wide(const EluFn& fn, const dd& x) {
    return dd_hi(x) < 0 ? dd_expm1(x) * static_cast<double>(fn.alpha) : x;
  }
};

// The quotient t = x / alpha rounds; its remainder r = x - t alpha is exact once t is cut into 26
// and 27 bits (alpha has 24), and e^(t + r/alpha) - 1 = q + (r/alpha)(q + 1), q = e^t - 1, up to (u
// t)^2. The correction errs by u of itself: 2^-50 + 4 u in all.
template <>
struct Impl<CeluFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-48;
  ASSAY_CORE static double correction(double x, double alpha, double t) {
    const auto high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(t) & 0xFFFFFFFFF8000000U);
    const double rest = (x - high * alpha) - (t - high) * alpha;
    return core::select(core::magnitude(t) < 1000, rest / alpha, 0.0);
  }
  ASSAY_CORE static double core(const CeluFn& fn, double x) {
    const double alpha = static_cast<double>(fn.alpha);
    const double t = x / alpha;
    const double q = core::expm1(t);
    return core::select(x < 0, alpha * (q + correction(x, alpha, t) * (q + 1)), x);
  }
  static double core_full(const CeluFn& fn, double x) {
    const double alpha = static_cast<double>(fn.alpha);
    const double t = x / alpha;
    if (!(x < 0) || t < 700) return core(fn, x);
    const double root = core::exp_full(t / 2);
    return alpha * root * (1 + correction(x, alpha, t)) * root;
  }
  static Known exact(const CeluFn& fn, double x) {
    if (x >= 0) return Tailed{x};
    const double alpha = static_cast<double>(fn.alpha);
    const double t = x / alpha;
    if (alpha == 0 || !std::isfinite(alpha) || std::isnan(t)) return not_a_number();
    if (std::isinf(t)) return Tailed{t > 0 ? alpha * t : -alpha};
    if (t < -50) return just_inside(-alpha);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const CeluFn& fn, mpfr_srcptr x) {
    // Up to 2^10 of the argument's own unit enters the power: two more working words than the
    // result needs.
    Mpfr fine(mpfr_get_prec(y) + 128);
    mpfr_div_d(fine, x, static_cast<double>(fn.alpha), MPFR_RNDN);
    mpfr_expm1(y, fine, MPFR_RNDN);
    mpfr_mul_d(y, y, static_cast<double>(fn.alpha), MPFR_RNDN);
  }
  static dd wide(const CeluFn& fn, const dd& x) {
    const double alpha = static_cast<double>(fn.alpha);
    return dd_hi(x) < 0 ? dd_expm1(x / alpha) * alpha : x;
  }
};

// gamma alpha is exact in double; the right branch gamma x is one exact product.
template <>
struct Impl<SeluFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const SeluFn& fn, double x) {
    const double gamma = static_cast<double>(fn.gamma);
    const double left = gamma * static_cast<double>(fn.alpha);
    return core::select(x < 0, left * core::expm1(x), gamma * x);
  }
  static double core_full(const SeluFn& fn, double x) { return core(fn, x); }
  static Known exact(const SeluFn& fn, double x) {
    const double gamma = static_cast<double>(fn.gamma);
    const double left = gamma * static_cast<double>(fn.alpha);
    if (x >= 0) return Tailed{gamma * x};
    if (std::isinf(x) || left == 0 || !std::isfinite(left)) return Tailed{-left};
    if (x < -50) return just_inside(-left);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SeluFn& fn, mpfr_srcptr x) {
    mpfr_expm1(y, x, MPFR_RNDN);
    mpfr_mul_d(y, y, static_cast<double>(fn.gamma) * static_cast<double>(fn.alpha), MPFR_RNDN);
  }
  static dd wide(const SeluFn& fn, const dd& x) {
    const double gamma = static_cast<double>(fn.gamma);
    return dd_hi(x) < 0 ? dd_expm1(x) * (gamma * static_cast<double>(fn.alpha)) : x * gamma;
  }
};

ASSAY_ELEMENTARY(ExpFn);
ASSAY_ELEMENTARY(SigmoidFn);
ASSAY_ELEMENTARY(TanhFn);
ASSAY_ELEMENTARY(SinhFn);
ASSAY_ELEMENTARY(CoshFn);
ASSAY_ELEMENTARY(SoftplusFn);
ASSAY_ELEMENTARY(SwishFn);
ASSAY_ELEMENTARY(MishFn);
ASSAY_ELEMENTARY(EluFn);
ASSAY_ELEMENTARY(CeluFn);
ASSAY_ELEMENTARY(SeluFn);

}  // namespace assay
