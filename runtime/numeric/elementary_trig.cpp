// Trigonometric functions and their inverses.
//
// Why the loops end: sin, cos, tan of a rational other than 0, and asin, acos, atan of a rational
// at which they are not 0, are transcendental (Lindemann). The rational cases are `exact`.

#include "runtime/numeric/elementary_impl.h"

namespace assay {

using elementary::just_inside;
using elementary::not_a_number;
using Known = std::optional<Tailed>;

namespace {

// sin r = r + r^3 S(r^2), cos r = 1 - r^2/2 + r^4 C(r^2) on |r| <= pi/4; relative errors 2^-60.
constexpr double kSin[] = {-0x1.5555555555555p-3, 0x1.111111111102p-7,    -0x1.a01a019fe9331p-13,
                           0x1.71de3a1171dd8p-19, -0x1.ae63f9fbceafcp-26, 0x1.60e744725ba3fp-33,
                           -0x1.8e22329111be3p-41};
constexpr double kCos[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16a34p-10, 0x1.a01a019fb8684p-16,
                           -0x1.27e4faf01fb07p-22, 0x1.1eecd81b0eb3fp-29,  -0x1.92a98628cd847p-37,
                           0x1.366d208c5f494p-45};

// pi/2 in two parts of 33 bits, whose products with k < 2^20 are exact, and a rest of 53 bits.
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
// Larger arguments and those next to a multiple of pi/2 go to MPFR.
constexpr double kTrigLimit = 0x1p20;

struct Quadrant {
  double sin;
  double cos;
  std::uint64_t k;
};

// x = k pi/2 + r. x - k P1 is exact; the next difference's error is recovered (two-sum); k P3 errs
// by u k P3 <= 2^-101, r by u |r| more. r is therefore good to 2 u + 2^-101 / |r|; |r| > 2^-30 for
// every float up to 2^20 (smallest found by the test over all k), so its relative error is at most
// 3 u, which sin and tan pass on with a condition number at most 1.6.
ASSAY_CORE Quadrant quadrant(double x) {
  const double shifted = x * kTwoOverPi + core::kRound;
  const double k = shifted - core::kRound;
  const double a = x - k * kHalfPi1;
  const double b = k * kHalfPi2;
  const double high = a - b;
  const double back = a - high;
  const double low = ((a - (high + back)) - (b - back)) - k * kHalfPi3;
  const double r = high + low;
  const double square = r * r;
  const double sine = r + r * (square * core::horner(kSin, square));
  const double cosine = 1 - (square * 0.5 - square * square * core::horner(kCos, square));
  return {sine, cosine, std::bit_cast<std::uint64_t>(shifted)};
}

// Keeps the sign of a zero, which the reduction loses, for the odd functions.
ASSAY_CORE double keep_zero(double x, double y) { return core::select(x == 0, x, y); }
ASSAY_CORE double guard(double x, double y) {
  return core::select(core::magnitude(x) < kTrigLimit, y, core::kNaN);
}
ASSAY_CORE double sine_of(double x) {
  const Quadrant q = quadrant(x);
  const double value = core::select((q.k & 1) != 0, q.cos, q.sin);
  const auto bits = std::bit_cast<std::uint64_t>(value) ^ ((q.k & 2) << 62);
  return keep_zero(x, guard(x, std::bit_cast<double>(bits)));
}
ASSAY_CORE double cosine_of(double x) {
  const Quadrant q = quadrant(x);
  const double value = core::select((q.k & 1) != 0, q.sin, q.cos);
  return guard(
      x, std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (((q.k + 1) & 2) << 62)));
}
ASSAY_CORE double tangent_of(double x) {
  const Quadrant q = quadrant(x);
  const bool odd = (q.k & 1) != 0;
  const double value = core::select(odd, -q.cos, q.sin) / core::select(odd, q.sin, q.cos);
  return keep_zero(x, guard(x, value));
}

// Double arguments may come closer to a multiple of pi/2 than floats; those go to MPFR, rounded to
// double.
template <class Fn>
double trig_full(const Fn& fn, double x, double y, double nearby) {
  const bool hard = !(std::fabs(x) < kTrigLimit) || std::fabs(nearby) < 0x1p-20;
  const bool small = std::fabs(x) < 1;
  return hard && !small ? elementary::slow(fn, x).value : y;
}

// atan t = t + t^3 A(t^2) on |t| <= tan(pi/8); relative error 2^-62.
constexpr double kAtan[] = {-0x1.5555555555555p-2, 0x1.9999999999806p-3,  -0x1.2492492480962p-3,
                            0x1.c71c71bb91293p-4,  -0x1.745d1528cf242p-4, 0x1.3b1373d277f4ap-4,
                            -0x1.110c7ea207a85p-4, 0x1.e16c0e7873cfp-5,   -0x1.ab1a9d70fc7c9p-5,
                            0x1.6dd9a9f07657p-5,   -0x1.0456c2a5aab8ep-5, 0x1.69beefcddfecbp-7,
                            0x1.1b41c4e8ef694p-8};
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
constexpr double kQuarterPi = 0x1.921fb54442d18p-1;

// atan a for a >= 0, infinity included. t = a or 1/a; beyond tan(pi/8), pi/4 + atan((t - 1)/(t +
// 1)) (t errs by u, which moves a result of at least pi/8 by u/2). At most 6 u.
ASSAY_CORE double atan_positive(double a) {
  const bool inverted = a > 1;
  const double t = core::select(inverted, 1 / a, a);
  const bool upper = t > 0x1.a8279ap-2;
  const double s = core::select(upper, (t - 1) / (t + 1), t);
  const double square = s * s;
  const double part = s + s * (square * core::horner(kAtan, square));
  const double low = core::select(upper, kQuarterPi + (part + kHalfPiLow / 2), part);
  return core::select(inverted, kHalfPi - (low - kHalfPiLow), low);
}

}  // namespace

template <>
struct Impl<SinFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-47;
  ASSAY_CORE static double core(const SinFn&, double x) { return sine_of(x); }
  static double core_full(const SinFn& fn, double x) {
    const double y = sine_of(x);
    return trig_full(fn, x, y, y);
  }
  static Known exact(const SinFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return not_a_number();
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const SinFn&, mpfr_srcptr x) { mpfr_sin(y, x, MPFR_RNDN); }
};

template <>
struct Impl<CosFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-47;
  ASSAY_CORE static double core(const CosFn&, double x) { return cosine_of(x); }
  static double core_full(const CosFn& fn, double x) {
    const double y = cosine_of(x);
    return trig_full(fn, x, y, y);
  }
  static Known exact(const CosFn&, double x) {
    if (std::isinf(x)) return not_a_number();
    if (x == 0) return Tailed{1.0};
    if (std::fabs(x) < 0x1p-40) return just_inside(1.0);
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const CosFn&, mpfr_srcptr x) { mpfr_cos(y, x, MPFR_RNDN); }
};

template <>
struct Impl<TanFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-46;
  ASSAY_CORE static double core(const TanFn&, double x) { return tangent_of(x); }
  static double core_full(const TanFn& fn, double x) {
    const double y = tangent_of(x);
    return trig_full(fn, x, y, std::fabs(y) > 1 ? 1 / y : y);
  }
  static Known exact(const TanFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return not_a_number();
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const TanFn&, mpfr_srcptr x) { mpfr_tan(y, x, MPFR_RNDN); }
};

template <>
struct Impl<AtanFn> {
  static constexpr double kError = 0x1p-49;
  static constexpr double kError64 = 0x1p-50;
  ASSAY_CORE static double core(const AtanFn&, double x) {
    return core::with_sign(atan_positive(core::magnitude(x)), x);
  }
  static double core_full(const AtanFn& fn, double x) { return core(fn, x); }
  static Known exact(const AtanFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return Tailed{.value = std::copysign(kHalfPi, x), .tail = x > 0 ? 1 : -1};
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AtanFn&, mpfr_srcptr x) { mpfr_atan(y, x, MPFR_RNDN); }
};

// asin x = atan(x / sqrt((1 - x)(1 + x))): the quotient errs by 3.5 u, condition number at most 1.
template <>
struct Impl<AsinFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const AsinFn&, double x) {
    const double a = core::magnitude(x);
    const double root = std::sqrt(core::magnitude((1 - a) * (1 + a)));
    return core::select(a <= 1, core::with_sign(atan_positive(a / root), x), core::kNaN);
  }
  static double core_full(const AsinFn& fn, double x) { return core(fn, x); }
  static Known exact(const AsinFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::fabs(x) > 1) return not_a_number();
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AsinFn&, mpfr_srcptr x) { mpfr_asin(y, x, MPFR_RNDN); }
};

// acos x = 2 atan(sqrt((1 - x)/(1 + x))): the root errs by 2.5 u.
template <>
struct Impl<AcosFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const AcosFn&, double x) {
    const double root = std::sqrt(core::magnitude((1 - x) / (1 + x)));
    return core::select(core::magnitude(x) <= 1, 2 * atan_positive(root), core::kNaN);
  }
  static double core_full(const AcosFn& fn, double x) { return core(fn, x); }
  static Known exact(const AcosFn&, double x) {
    if (x == 1) return Tailed{0.0};
    if (std::fabs(x) > 1) return not_a_number();
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const AcosFn&, mpfr_srcptr x) { mpfr_acos(y, x, MPFR_RNDN); }
};

ASSAY_ELEMENTARY(SinFn);
ASSAY_ELEMENTARY(CosFn);
ASSAY_ELEMENTARY(TanFn);
ASSAY_ELEMENTARY(AtanFn);
ASSAY_ELEMENTARY(AsinFn);
ASSAY_ELEMENTARY(AcosFn);

}  // namespace assay
