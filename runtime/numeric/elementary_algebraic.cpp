// Algebraic and piecewise functions: sqrt, rsqrt, reciprocal, softsign, leaky and thresholded relu,
// hard sigmoid, hard swish, round, floor, ceil.
//
// The value is algebraic, so ties can occur. None needs a loop: MPFR's + - * / sqrt are correctly
// rounded and report exactness, so one operation on exact operands at 60 bits decides every tie.
// Float sums and products below are kept exact at 640 bits (float operands: exponents within
// -298..256), double ones at 4400.

#include "runtime/numeric/elementary_impl.h"

namespace assay {

using elementary::not_a_number;
using Known = std::optional<Tailed>;

namespace {

constexpr mpfr_prec_t kExact = 4400;

// A function without `approximate`: `exact` knows every value.
[[noreturn]] void never(mpfr_ptr) {
  assert(false && "exact() covers every argument");
  __builtin_unreachable();
}

Tailed quotient(mpfr_srcptr numerator, mpfr_srcptr denominator) {
  Mpfr y(60);
  const int inexact = mpfr_div(y, numerator, denominator, MPFR_RNDZ);
  return to_tailed(y, inexact);
}

}  // namespace

// The core is the hardware's square root, correctly rounded to double. kError only serves the
// rounding test.
template <>
struct Impl<SqrtFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-51;
  static constexpr double kError64 = 0x1p-53;
  ASSAY_CORE static double core(const SqrtFn&, double x) { return std::sqrt(x); }
  static double core_full(const SqrtFn&, double x) { return std::sqrt(x); }
  static Known exact(const SqrtFn&, double x) {
    if (x < 0) return not_a_number();
    if (x == 0 || std::isinf(x)) return Tailed{x};
    const Mpfr argument(53, x);
    Mpfr y(60);
    const int inexact = mpfr_sqrt(y, argument, MPFR_RNDZ);
    return to_tailed(y, inexact);
  }
  static void approximate(mpfr_ptr y, const SqrtFn&, mpfr_srcptr) { never(y); }
  static dd wide(const SqrtFn&, const dd& x) {
    if (dd_hi(x) < 0) return {core::kNaN, 0.0};
    if (dd_hi(x) == 0) return x;
    // One Newton step on the double root r: r + (x - r^2) / (2 r).
    const double r = std::sqrt(dd_hi(x));
    return dd(r) + dd_hi(x - dd::mul(r, r)) / (2 * r);
  }
};

// The root errs by u, the quotient by u.
template <>
struct Impl<RsqrtFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-50;
  static constexpr double kError64 = 0x1p-51;
  ASSAY_CORE static double core(const RsqrtFn&, double x) {
    return core::select(x > 0, 1 / std::sqrt(x), core::kNaN);
  }
  static double core_full(const RsqrtFn&, double x) { return 1 / std::sqrt(x); }
  static Known exact(const RsqrtFn&, double x) {
    if (x == 0) return Tailed{1 / x};
    if (x < 0) return not_a_number();
    if (std::isinf(x)) return Tailed{0.0};
    const Mpfr argument(53, x);
    Mpfr y(60);
    const int inexact = mpfr_rec_sqrt(y, argument, MPFR_RNDZ);
    return to_tailed(y, inexact);
  }
  static void approximate(mpfr_ptr y, const RsqrtFn&, mpfr_srcptr) { never(y); }
  static dd wide(const RsqrtFn&, const dd& x) {
    if (dd_hi(x) < 0) return {core::kNaN, 0.0};
    return dd(1.0) / Impl<SqrtFn>::wide({}, x);
  }
};

template <>
struct Impl<ReciprocalFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-51;
  static constexpr double kError64 = 0x1p-53;
  ASSAY_CORE static double core(const ReciprocalFn&, double x) { return 1 / x; }
  static double core_full(const ReciprocalFn&, double x) { return 1 / x; }
  static Known exact(const ReciprocalFn&, double x) {
    if (x == 0 || std::isinf(x)) return Tailed{1 / x};
    return quotient(Mpfr(53, 1.0), Mpfr(53, x));
  }
  static void approximate(mpfr_ptr y, const ReciprocalFn&, mpfr_srcptr) { never(y); }
  static dd wide(const ReciprocalFn&, const dd& x) { return dd(1.0) / x; }
};

template <>
struct Impl<SoftsignFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-50;
  static constexpr double kError64 = 0x1p-51;
  ASSAY_CORE static double core(const SoftsignFn&, double x) {
    return x / (1 + core::magnitude(x));
  }
  static double core_full(const SoftsignFn& fn, double x) { return core(fn, x); }
  static Known exact(const SoftsignFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return not_a_number();
    const Mpfr numerator(53, x);
    Mpfr denominator(kExact);
    mpfr_abs(denominator, numerator, MPFR_RNDN);
    mpfr_add_ui(denominator, denominator, 1, MPFR_RNDN);
    return quotient(numerator, denominator);
  }
  static void approximate(mpfr_ptr y, const SoftsignFn&, mpfr_srcptr) { never(y); }
  static dd wide(const SoftsignFn&, const dd& x) { return x / ((dd_hi(x) < 0 ? -x : x) + 1.0); }
};

// One exact product: kError is 0, as for all functions below whose value in double is exact.
template <>
struct Impl<LeakyReluFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0;
  static constexpr double kError64 = 0x1p-53;
  ASSAY_CORE static double core(const LeakyReluFn& fn, double x) {
    return core::select(x < 0, static_cast<double>(fn.alpha) * x, x);
  }
  static double core_full(const LeakyReluFn& fn, double x) { return core(fn, x); }
  static Known exact(const LeakyReluFn& fn, double x) { return Tailed{core(fn, x)}; }
  static void approximate(mpfr_ptr y, const LeakyReluFn&, mpfr_srcptr) { never(y); }
  static dd wide(const LeakyReluFn& fn, const dd& x) {
    return dd_hi(x) < 0 ? x * static_cast<double>(fn.alpha) : x;
  }
};

template <>
struct Impl<ThresholdedReluFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0;
  static constexpr double kError64 = 0;
  ASSAY_CORE static double core(const ThresholdedReluFn& fn, double x) {
    return core::select(x <= static_cast<double>(fn.alpha), 0.0, x);
  }
  static double core_full(const ThresholdedReluFn& fn, double x) { return core(fn, x); }
  static Known exact(const ThresholdedReluFn& fn, double x) { return Tailed{core(fn, x)}; }
  static void approximate(mpfr_ptr y, const ThresholdedReluFn&, mpfr_srcptr) { never(y); }
  static dd wide(const ThresholdedReluFn& fn, const dd& x) {
    return x > dd(static_cast<double>(fn.alpha)) ? x : dd(0.0);
  }
};

// alpha x is exact for floats; the sum rounds once, so the relative error of the sum is u (and
// kError64 does not count the cancellation of a rounded product: it is relative to |alpha x| +
// |beta|).
template <>
struct Impl<HardSigmoidFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-51;
  static constexpr double kError64 = 0x1p-52;
  ASSAY_CORE static double core(const HardSigmoidFn& fn, double x) {
    const double t = static_cast<double>(fn.alpha) * x + static_cast<double>(fn.beta);
    return core::clamp(t, 0.0, 1.0) + 0.0;  // no -0
  }
  static double core_full(const HardSigmoidFn& fn, double x) {
    const double alpha = static_cast<double>(fn.alpha);
    return core::clamp(std::fma(alpha, x, static_cast<double>(fn.beta)), 0.0, 1.0) + 0.0;
  }
  static Known exact(const HardSigmoidFn& fn, double x) {
    if (std::isnan(core_full(fn, x))) return not_a_number();
    const double t = static_cast<double>(fn.alpha) * x;
    if (std::isinf(t)) return Tailed{t > 0 ? 1.0 : 0.0};
    const Mpfr argument(53, x);
    const Mpfr alpha(53, static_cast<double>(fn.alpha));
    const Mpfr beta(53, static_cast<double>(fn.beta));
    Mpfr y(60);
    const int inexact = mpfr_fma(y, argument, alpha, beta, MPFR_RNDZ);
    if (mpfr_sgn(y.get()) <= 0) return Tailed{0.0};
    if (mpfr_cmp_ui(y.get(), 1) >= 0) return Tailed{1.0};
    return to_tailed(y, inexact);
  }
  static void approximate(mpfr_ptr y, const HardSigmoidFn&, mpfr_srcptr) { never(y); }
  static dd wide(const HardSigmoidFn& fn, const dd& x) {
    const dd t = x * static_cast<double>(fn.alpha) + static_cast<double>(fn.beta);
    return t < 0.0 ? dd(0.0) : (t > 1.0 ? dd(1.0) : t);
  }
};

// x (x + 3) / 6 between -3 and 3; 1/6 is the real number. x + 3, the product and the quotient round
// once each.
template <>
struct Impl<HardSwishFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0x1p-50;
  static constexpr double kError64 = 0x1p-51;
  ASSAY_CORE static double core(const HardSwishFn&, double x) {
    // The outer branches are exact: x * 6 / 6 for a float x, and x * 0 / 6.
    return x * core::clamp(x + 3, 0.0, 6.0) / 6;
  }
  static double core_full(const HardSwishFn&, double x) {
    return x >= 3 ? x : x * core::clamp(x + 3, 0.0, 6.0) / 6;
  }
  static Known exact(const HardSwishFn&, double x) {
    if (x == 0) return Tailed{x};
    if (x >= 3) return Tailed{x};
    if (x <= -3) return std::isinf(x) ? not_a_number() : Tailed{-0.0};
    const Mpfr argument(53, x);
    Mpfr product(kExact);
    mpfr_add_ui(product, argument, 3, MPFR_RNDN);
    mpfr_mul(product, product, argument, MPFR_RNDN);
    return quotient(product, Mpfr(53, 6.0));
  }
  static void approximate(mpfr_ptr y, const HardSwishFn&, mpfr_srcptr) { never(y); }
  static dd wide(const HardSwishFn&, const dd& x) {
    const dd t = x + 3.0;
    if (t <= 0.0) return x * 0.0;
    return t >= 6.0 ? x : x * t / 6.0;
  }
};

namespace {

// Nearest integer of |x| < 2^51 by the rounding constant, with the sign kept; larger numbers are
// integers.
ASSAY_CORE double nearest(double x) {
  const double a = core::magnitude(x);
  const double rounded = core::select(a < 0x1p51, (a + 0x1p52) - 0x1p52, a);
  return core::with_sign(rounded, x);
}
ASSAY_CORE double floor_of(double x) {
  const double rounded = nearest(x);
  return core::select(rounded > x, rounded - 1, rounded);
}

dd floor_of(const dd& x) {
  const double high = floor_of(dd_hi(x));
  if (high != dd_hi(x)) return {high, 0.0};
  return dd::add(high, floor_of(dd_lo(x)));
}

}  // namespace

template <>
struct Impl<RoundFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0;
  static constexpr double kError64 = 0;
  ASSAY_CORE static double core(const RoundFn&, double x) { return nearest(x); }
  static double core_full(const RoundFn&, double x) { return nearest(x); }
  static Known exact(const RoundFn&, double x) { return Tailed{nearest(x)}; }
  static void approximate(mpfr_ptr y, const RoundFn&, mpfr_srcptr) { never(y); }
  static dd wide(const RoundFn&, const dd& x) {
    const dd below = floor_of(x);
    const dd rest = x - below;
    const bool odd = dd_hi(floor_of(below * 0.5) * 2.0 - below) != 0;
    return rest > 0.5 || (rest == 0.5 && odd) ? below + 1.0 : below;
  }
};

template <>
struct Impl<FloorFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0;
  static constexpr double kError64 = 0;
  ASSAY_CORE static double core(const FloorFn&, double x) { return floor_of(x); }
  static double core_full(const FloorFn&, double x) { return floor_of(x); }
  static Known exact(const FloorFn&, double x) { return Tailed{floor_of(x)}; }
  static void approximate(mpfr_ptr y, const FloorFn&, mpfr_srcptr) { never(y); }
  static dd wide(const FloorFn&, const dd& x) { return floor_of(x); }
};

template <>
struct Impl<CeilFn> {
  static constexpr bool kTotal = true;
  static constexpr double kError = 0;
  static constexpr double kError64 = 0;
  ASSAY_CORE static double core(const CeilFn&, double x) { return -floor_of(-x); }
  static double core_full(const CeilFn&, double x) { return -floor_of(-x); }
  static Known exact(const CeilFn&, double x) { return Tailed{-floor_of(-x)}; }
  static void approximate(mpfr_ptr y, const CeilFn&, mpfr_srcptr) { never(y); }
  static dd wide(const CeilFn&, const dd& x) { return -floor_of(-x); }
};

ASSAY_ELEMENTARY(SqrtFn);
ASSAY_ELEMENTARY(RsqrtFn);
ASSAY_ELEMENTARY(ReciprocalFn);
ASSAY_ELEMENTARY(SoftsignFn);
ASSAY_ELEMENTARY(LeakyReluFn);
ASSAY_ELEMENTARY(ThresholdedReluFn);
ASSAY_ELEMENTARY(HardSigmoidFn);
ASSAY_ELEMENTARY(HardSwishFn);
ASSAY_ELEMENTARY(RoundFn);
ASSAY_ELEMENTARY(FloorFn);
ASSAY_ELEMENTARY(CeilFn);

}  // namespace assay
