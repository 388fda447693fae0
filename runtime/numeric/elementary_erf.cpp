// The error function family: erf, GELU in its erf form and in its tanh form.
//
// erfc(z) = e^(-z^2) erfcx(z) with erfcx smooth and positive; GELU is x Phi(x) with Phi(x) =
// erfc(-x / sqrt 2) / 2, which loses no digits on the left tail.
//
// Why the loops end: erf(x) and e^(..) at a rational (for GELU's tanh form: at a transcendental
// multiple of an algebraic number) argument are not known to be transcendental in every case; an
// exact tie would need erf(x) to be a dyadic rational of at most 61 bits. No proof excludes it for
// every x, so the loop asserts its end: for float32 the exhaustive test runs erf on all 2^32
// arguments, and for GELU a runaway ends at 2^20 bits with an assertion instead of a wrong result.
// x = 0 is exact.

#include "runtime/numeric/elementary_dd.h"
#include "runtime/numeric/elementary_impl.h"

namespace assay {

using elementary::just_inside;
using elementary::not_a_number;
using Known = std::optional<Tailed>;

namespace {

// erf(x) / x in x^2, |x| <= 0.66; relative error 2^-56.
constexpr double kErf[] = {0x1.20dd750429b6dp0,    -0x1.812746b0379b8p-2,  0x1.ce2f21a040783p-4,
                           -0x1.b82ce311b8b1bp-6,  0x1.565bcce563369p-8,   -0x1.c02daa37f0409p-11,
                           0x1.f9a1ad96ce64ep-14,  -0x1.f4adf4e277998p-17, 0x1.b7b1613dbf5b8p-20,
                           -0x1.4b1d61079fc88p-23, 0x1.3b56a5f8f107ap-27};

// (1 + 2z) erfcx(z) in q = (z - K) / (z + K), K = 3.75, 0 <= z <= 28; relative error 2^-53.3. The
// map takes [0, inf) to [-1, 1) (Shepherd and Laframboise 1981).
constexpr double kErfcxCentre = 3.75;
constexpr double kErfcx[] = {
    0x1.3ccda0b5d5dc2p0,   -0x1.1f367683f899bp-3,  0x1.d5f2948160676p-9,   0x1.510169d095daap-4,
    -0x1.bda9309a2f4e4p-4, 0x1.7a14188aaeeb2p-4,   -0x1.e0d0fa6d2ee99p-5,  0x1.d0b00378c43ecp-6,
    -0x1.3f603c5112171p-7, 0x1.cc3a10cad2aep-10,   0x1.33fb39b72e382p-12,  -0x1.303fd4882fdf5p-12,
    0x1.b1419ec08175bp-15, 0x1.779586cb86f2ep-16,  -0x1.7fea7b5cf43dap-17, -0x1.06ac3807cbcb2p-20,
    0x1.d4d86bf3b3f02p-20, -0x1.b161bbbb9fa2bp-25, -0x1.0e7a97af333a1p-22, 0x1.3172315f86d28p-26,
    0x1.1b86b7fa8deb4p-25, -0x1.9372d8e64762dp-30, -0x1.67ea7ddd25527p-29};

// e^(z^2) erfc(z), 0 <= z <= 28, relative error <= 2^-50: q errs by 3 u absolutely and |d log f /
// dq| < 1/2; the polynomial's value is in [1, 1.35] and its Horner steps err by less than 3 u
// together; division and 1 + 2z by 2 u.
ASSAY_CORE double erfcx(double z) {
  const double q = (z - kErfcxCentre) / (z + kErfcxCentre);
  return core::horner(kErfcx, q) / (1 + 2 * z);
}

constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kSqrt2OverPi = 0x1.9884533d43651p-1;

}  // namespace

// Below 0.65: x times a polynomial that errs by 2^-56 + 3 u. Above: 1 - c, c = e^(-x^2) erfcx(x) <=
// 0.36, where c errs by 2^-51 + 2^-50 + 2 u (x^2 is exact for floats; for doubles it moves c by u
// x^2 c <= u / 5). At most 2^-50 of erf >= 0.64.
template <>
struct Impl<ErfFn> {
  static constexpr double kError = 0x1p-48;
  static constexpr double kError64 = 0x1p-49;
  ASSAY_CORE static double core(const ErfFn&, double x) {
    const double a = core::clamp(core::magnitude(x), 0, 8);
    const double square = a * a;
    const double small = x * core::horner(kErf, square);
    const double large = 1 - core::exp(-square) * erfcx(a);
    return core::select(a < 0.65, small, core::with_sign(large, x));
  }
  static double core_full(const ErfFn& fn, double x) { return core(fn, x); }
  static Known exact(const ErfFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return Tailed{std::copysign(1.0, x)};
    if (std::fabs(x) > 7) return just_inside(std::copysign(1.0, x));  // erfc(7) < 2^-74
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const ErfFn&, mpfr_srcptr x) { mpfr_erf(y, x, MPFR_RNDN); }
};

// h = e^(-x^2/2) erfcx(|x| / sqrt 2) / 2 = Phi(-|x|) errs by 2^-51 + 2^-50 + 3 u; x h on the left,
// x (1 - h) on the right, where h
// <= 1/2. At most 2^-49. Left of x = -37 the clamped exponent gives |y| < 2^-900, as does the exact
// value: both round to -0.
template <>
struct Impl<GeluErfFn> {
  static constexpr double kError = 0x1p-47;
  static constexpr double kError64 = 0x1p-47;
  ASSAY_CORE static double core(const GeluErfFn&, double x) {
    const double a = core::clamp(core::magnitude(x), 0, 39);
    const double h = core::exp(a * a * -0.5) * erfcx(a * kSqrtHalf) * 0.5;
    return core::if_finite(x, x * core::select(x < 0, h, 1 - h));
  }
  static double core_full(const GeluErfFn&, double x) {
    // The rounding error of x^2, times -1/2, is a relative error of the power; fma gives it
    // exactly.
    const double a = core::clamp(core::magnitude(x), 0, 39);
    const double square = a * a;
    const double rest = std::fma(a, a, -square);
    const double root = core::exp_full(square * -0.25) * (1 - rest * 0.25);
    const double tail = root * (erfcx(a * kSqrtHalf) * 0.5);
    if (x < -39) return -0.0;  // below 2^-1100
    return x < 0 ? (x * root) * tail : x * (1 - root * tail);
  }
  static Known exact(const GeluErfFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return x > 0 ? Tailed{x} : not_a_number();
    if (x > 20) return just_inside(x);
    if (elementary::is_tiny(x)) return elementary::half_and_more(x, 1);  // Phi(x) = 1/2 + 0.4 x
    return std::nullopt;
  }
  // erfc's condition number is about 2 z^2: 128 more bits than the result needs cover every z below
  // 2^60.
  static void approximate(mpfr_ptr y, const GeluErfFn&, mpfr_srcptr x) {
    const mpfr_prec_t precision = mpfr_get_prec(y);
    Mpfr z(precision + 128);
    mpfr_sqrt_ui(z, 2, MPFR_RNDN);
    mpfr_div(z, x, z, MPFR_RNDN);
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_erfc(y, z, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
  }
};

// x / (1 + e^(-2t)), t = sqrt(2/pi) (x + 0.044715 x^3). 2t errs by 6 u relative, which moves the
// power by 6 u |2t|; where the result is not below 2^-150, |2t| <= 110 on the left, and on the
// right the power is dominated by 1: at most 2^-43. In double |2t| reaches 745.
template <>
struct Impl<GeluTanhFn> {
  static constexpr double kError = 0x1p-42;
  static constexpr double kError64 = 0x1p-40;
  ASSAY_CORE static double power(double x) {
    return (-2 * kSqrt2OverPi) * (x + 0.044715 * (x * x * x));
  }
  ASSAY_CORE static double core(const GeluTanhFn&, double x) {
    return core::if_finite(x, x / (1 + core::exp(power(core::clamp(x, -40, 40)))));
  }
  static double core_full(const GeluTanhFn&, double x) {
    const double t = power(core::clamp(x, -40, 40));
    if (t < 40) return x / (1 + core::exp(t));
    const double root = core::exp_full(t * -0.5);
    return (x * root) * root;
  }
  static Known exact(const GeluTanhFn&, double x) {
    if (x == 0) return Tailed{x};
    if (std::isinf(x)) return x > 0 ? Tailed{x} : not_a_number();
    if (x > 20) return just_inside(x);
    if (elementary::is_tiny(x)) return elementary::half_and_more(x, 1);  // Phi(x) = 1/2 + 0.4 x
    return std::nullopt;
  }
  static void approximate(mpfr_ptr y, const GeluTanhFn&, mpfr_srcptr x) {
    const mpfr_prec_t precision = mpfr_get_prec(y) + 128;
    Mpfr t(precision);
    Mpfr factor(precision);
    mpfr_sqr(t, x, MPFR_RNDN);
    mpfr_mul_ui(t, t, 44715, MPFR_RNDN);
    mpfr_div_ui(t, t, 1000000, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_const_pi(factor, MPFR_RNDN);
    mpfr_ui_div(factor, 8, factor, MPFR_RNDN);
    mpfr_sqrt(factor, factor, MPFR_RNDN);  // 2 sqrt(2/pi)
    mpfr_mul(t, t, factor, MPFR_RNDN);
    mpfr_neg(t, t, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_div(y, x, t, MPFR_RNDN);
  }
};

ASSAY_ELEMENTARY(ErfFn);
ASSAY_ELEMENTARY(GeluErfFn);
ASSAY_ELEMENTARY(GeluTanhFn);

}  // namespace assay
