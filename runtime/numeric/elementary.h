#pragma once

#include <span>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/half.h"
#include "runtime/numeric/proved.h"

// Elementary functions of the reference, every one in four evaluations.
//
// A function is a small struct that holds its parameters; five function templates take any of them:
//
//   cr(GeluErfFn{}, x)              float -> float, double -> double: the exact value rounded once
//   cr_as<Half>(GeluErfFn{}, x)     float -> float, Half or BFloat16: the exact value rounded once
//   cr(GeluErfFn{}, xs, ys)         arrays of float; xs and ys may be the same array
//   evaluate(GeluErfFn{}, x)        float: equal to cr; double: own code, relative error at most
//                                   f64_error(fn) (+ 2^-1073); dd: about 2^-95
//
// All bits are the same on every machine: no function calls the platform's libm.
//
// What "exact" means: a parameter counts at its stored float32 value; a
// constant that only the operator's text names (1/6 in HardSwish, 0.044715 and sqrt(2/pi) in the
// tanh form of GELU) is the real number; a composite such as Swish is the exact composite, rounded
// once.
//
// Special values: a NaN input gives the canonical quiet NaN (0x7FC00000); an infinite input follows
// IEEE arithmetic on the formula (Swish(-inf) = -inf * 0 = NaN); signed zeros follow it too;
// overflow after the rounding is an infinity, subnormal results are kept.

namespace assay {

// Exponential family (elementary_exp.cpp).
struct ExpFn {};       // e^x
struct SigmoidFn {};   // 1 / (1 + e^-x)
struct TanhFn {};      // (e^2x - 1) / (e^2x + 1)
struct SinhFn {};      // (e^x - e^-x) / 2
struct CoshFn {};      // (e^x + e^-x) / 2
struct SoftplusFn {};  // log(1 + e^x)
// x / (1 + e^-(alpha x)); alpha 1 is SiLU
struct SwishFn {
  float alpha = 1.0F;
};
struct MishFn {};  // x tanh(log(1 + e^x))
// x >= 0 ? x : alpha (e^x - 1)
struct EluFn {
  float alpha = 1.0F;
};
// x >= 0 ? x : alpha (e^(x / alpha) - 1)
struct CeluFn {
  float alpha = 1.0F;
};
// gamma (x > 0 ? x : alpha (e^x - 1))
struct SeluFn {
  float alpha = 1.67326319217681884765625F;
  float gamma = 1.05070102214813232421875F;
};

// Error function family (elementary_erf.cpp).
struct ErfFn {};       // erf(x)
struct GeluErfFn {};   // x (1 + erf(x / sqrt 2)) / 2
struct GeluTanhFn {};  // x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2

// Logarithms and inverse hyperbolic functions (elementary_log.cpp).
struct LogFn {};  // log x; log(+-0) = -inf, x < 0 gives NaN
struct AsinhFn {};
struct AcoshFn {};
struct AtanhFn {};

// Trigonometric functions (elementary_trig.cpp).
struct SinFn {};
struct CosFn {};
struct TanFn {};
struct AsinFn {};
struct AcosFn {};
struct AtanFn {};

// Algebraic functions (elementary_algebraic.cpp).
struct SqrtFn {};        // sqrt x
struct RsqrtFn {};       // 1 / sqrt x; rsqrt(+-0) = +-inf
struct ReciprocalFn {};  // 1 / x
struct SoftsignFn {};    // x / (1 + |x|)
// x >= 0 ? x : alpha x
struct LeakyReluFn {
  float alpha = 0.01F;
};
// x > alpha ? x : 0
struct ThresholdedReluFn {
  float alpha = 1.0F;
};
// max(0, min(1, alpha x + beta))
struct HardSigmoidFn {
  float alpha = 0.2F;
  float beta = 0.5F;
};
struct HardSwishFn {};  // x max(0, min(1, x / 6 + 1 / 2))
struct RoundFn {};      // to the nearest integer, ties to even
struct FloorFn {};
struct CeilFn {};

// The exact value at x, rounded once to Out (float, Half, BFloat16).
template <class Out, class Fn>
Out cr_as(const Fn& fn, float x);
template <class Fn>
double cr(const Fn& fn, double x);
template <class Fn>
float cr(const Fn& fn, float x) {
  return cr_as<float>(fn, x);
}
// Asserts equal sizes. Serial: callers split large arrays over threads.
template <class Fn>
void cr(const Fn& fn, std::span<const float> x, std::span<float> y);

template <class Fn>
float evaluate(const Fn& fn, float x) {
  return cr_as<float>(fn, x);
}
template <class Fn>
double evaluate(const Fn& fn, double x);
template <class Fn>
dd evaluate(const Fn& fn, const dd& x);

// Proved bound on the relative error of evaluate(fn, double), besides 2^-1073 of underflow.
template <class Fn>
double f64_error(const Fn& fn);

// Proved bound on the relative error of evaluate(fn, dd), one for all functions: most compose
// dd_exp (2^-100) and a few operations. The argument of a Swish, known to 3 * 2^-106 of |t| <= 750,
// enters e^t with 2^-94.8; a logarithm, at least 2^-10 here (next to 1 MPFR takes over), errs by
// 2^-90.9.
inline double dd_error() { return proved<"dd, elementary">(0x1.1p-91).value; }

// x^y as IEEE pow: x^0 = 1 for every x, 1^y = 1 for every y, x < 0 needs an integer y
// (elementary_pow.cpp).
template <class Out>
Out cr_pow_as(float x, float y);
inline float cr_pow(float x, float y) { return cr_pow_as<float>(x, y); }
double cr_pow(double x, double y);
inline float evaluate_pow(float x, float y) { return cr_pow_as<float>(x, y); }
double evaluate_pow(double x, double y);  // relative error at most 2^-52
dd evaluate_pow(const dd& x, const dd& y);

// The remainder of ONNX Mod with fmod = 1 (sign of x), exact in every type.
float fmod_exact(float x, float y);
double fmod_exact(double x, double y);
dd fmod_exact(const dd& x, const dd& y);

}  // namespace assay
