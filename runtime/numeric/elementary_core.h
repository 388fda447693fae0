#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

// Branch-free double cores of the elementary functions. Internal: operators include elementary.h.
//
// Every core is a few multiplications and additions around a polynomial, so that compilers
// vectorize a loop over it and every machine gives the same bits (no libm, no contraction).
// Coefficients come from elementary_polynomials.sollya, which also certifies the approximation
// errors quoted here. u = 2^-53 is the unit roundoff of double. The bounds given are proved by
// counting roundings and are stated with a factor of two or more to spare.

#define ASSAY_CORE [[gnu::always_inline]] inline

namespace assay::core {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Adding and subtracting this rounds |t| < 2^51 to an integer, whose low bits are those of the sum.
constexpr double kRound = 0x1.8p52;
constexpr double kLog2E = 0x1.71547652b82fep+0;
// log 2 = kLn2High + kLn2Low (1 + 2^-55): the high part has 20 trailing zeros, so k * kLn2High is
// exact for |k| < 2^20.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// A choice by bit masks: from `?:` compilers make branches, follow the constants through them, and
// no longer vectorize.
ASSAY_CORE double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) |
                               (std::bit_cast<std::uint64_t>(no) & ~mask));
}
// NaN passes through: both comparisons are false.
ASSAY_CORE double clamp(double x, double low, double high) {
  const double above = select(x < low, low, x);
  return select(above > high, high, above);
}
ASSAY_CORE double magnitude(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FFFFFFFFFFFFFFFU);
}
// y where x is finite; NaN, which stands for "ask exact()", elsewhere.
ASSAY_CORE double if_finite(double x, double y) {
  return select(magnitude(x) < kInfinity, y, kNaN);
}
ASSAY_CORE double with_sign(double positive, double sign) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(positive) |
                               (std::bit_cast<std::uint64_t>(sign) & 0x8000000000000000U));
}

// Unrolled by the template, since a loop inside would keep the caller's loop from being vectorized.
template <std::size_t I = 0, std::size_t N>
ASSAY_CORE double horner(const double (&coefficients)[N], double x) {
  if constexpr (I + 1 == N) {
    return coefficients[I];
  } else {
    return horner<I + 1>(coefficients, x) * x + coefficients[I];
  }
}

// (e^r - 1 - r) / r^2 on |r| <= log(2)/2 + 2^-20. With it r + r^2 P(r) is within 2^-54.5 of e^r -
// 1, relative.
inline constexpr double kExp[] = {
    0x1.0000000000001p-1,  0x1.555555555554dp-3,  0x1.5555555553ce8p-5,  0x1.11111111144cdp-7,
    0x1.6c16c178a58b2p-10, 0x1.a01a018c37677p-13, 0x1.a019b8cc875bbp-16, 0x1.71de59f3520bap-19,
    0x1.2891bc11bdc43p-22, 0x1.aeabc345fdc3dp-26};

struct ExpParts {
  double q;         // e^r - 1
  std::uint64_t k;  // low bits hold the integer k of x = k log 2 + r
};

// x = k log 2 + r with |r| <= log(2)/2 (1 + 2^-40) for |x| <= 2^10. k kLn2High is exact and so is
// its difference from x (both are multiples of ulp(x) or of 2^-33 and the result is small); the
// second product and difference round: |error of r| <= u |k| 2^-33 + u |r|. q = r + r^2 P(r):
// relative error <= 3.5 u + the error of r relative to r.
ASSAY_CORE ExpParts exp_parts(double x) {
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  return {r + (r * r) * horner(kExp, r), std::bit_cast<std::uint64_t>(shifted)};
}

// 2^(k + Offset) for -1022 <= k + Offset <= 1023.
template <int Offset = 0>
ASSAY_CORE double power_of_two(std::uint64_t k) {
  return std::bit_cast<double>((k << 52) + (static_cast<std::uint64_t>(1023 + Offset) << 52));
}

// e^x, relative error <= 2^-51 for |x| <= 700, where larger |x| are clamped (both the true and the
// computed value then lie far outside float's range). 1 + q costs u, q errs by 4 u |q| <= 1.7 u,
// r's error enters as is.
ASSAY_CORE double exp(double x) {
  const ExpParts parts = exp_parts(clamp(x, -700.0, 700.0));
  const double scale = power_of_two(parts.k);
  return scale + scale * parts.q;
}

// e^x over the whole double range: the scale is applied in two halves, a subnormal result errs by
// 2^-1074 more.
inline double exp_full(double x) {
  const ExpParts parts = exp_parts(clamp(x, -750.0, 720.0));
  const auto k = static_cast<int>(static_cast<std::int64_t>(parts.k << 12) >> 12);
  const int half = k >> 1;
  const double first = power_of_two(static_cast<std::uint64_t>(half));
  const double second = power_of_two(static_cast<std::uint64_t>(k - half));
  return (1 + parts.q) * first * second;
}

// e^x - 1, relative error <= 2^-50, |x| <= 709 (smaller and larger x are clamped to -60 and 709).
// With s = 2^(k-1): 2 ((s - 1/2) + s q); for k = 0 this is q itself, for other k the sum is at
// least 0.29 of its larger addend.
ASSAY_CORE double expm1(double x) {
  const ExpParts parts = exp_parts(clamp(x, -60.0, 709.0));
  const double scale = power_of_two<-1>(parts.k);
  return 2 * ((scale - 0.5) + scale * parts.q);
}

// (log((1 + s)/(1 - s)) / s - 2) / s^2 as a polynomial in s^2, |s| <= 0.1716; relative error <=
// 2^-54.
inline constexpr double kLog[] = {0x1.5555555555555p-1, 0x1.9999999999d59p-2, 0x1.249249242ee17p-2,
                                  0x1.c71c725c5fa81p-3, 0x1.745cdb74b84c1p-3, 0x1.3b21594e186f1p-3,
                                  0x1.0f4a1233003f2p-3, 0x1.1023db2645bf5p-3};

// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1]: 2s + s^3 R(s^2), s = f / (2 + f). Relative
// error <= 2^-51: s errs by 2 u, the second addend is at most 1/100 of the first, the sum rounds
// once.
ASSAY_CORE double log1p_reduced(double f) {
  const double s = f / (2 + f);
  const double z = s * s;
  return 2 * s + s * (z * horner(kLog, z));
}

struct LogParts {
  double f;  // m - 1
  double k;  // x = 2^k m, m in [sqrt(1/2), sqrt(2))
};

// For normal positive x. The exponent field becomes a double without an integer conversion (SSE2,
// AVX2 have none for 64 bits): its bits under the exponent of 2^52.
ASSAY_CORE LogParts log_parts(double x) {
  constexpr std::uint64_t kOne = 0x3FF0000000000000U;
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDU;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t field = (bits + (kOne - kSqrtHalf)) >> 52;
  const double k = std::bit_cast<double>(field | 0x4330000000000000U) - (0x1p52 + 1023);
  const double m = std::bit_cast<double>(bits - (field << 52) + kOne);
  return {m - 1, k};
}

// log x for normal positive x, NaN otherwise. Relative error <= 2^-50: for k = 0 that of
// log1p_reduced; otherwise |log x| >= 0.346 and k kLn2High is exact, so three roundings of at most
// u |log x| + u 0.35 each remain.
ASSAY_CORE double log(double x) {
  const LogParts parts = log_parts(x);
  const double y = parts.k * kLn2High + (log1p_reduced(parts.f) + parts.k * kLn2Low);
  return select(x >= 0x1p-1022, select(x < kInfinity, y, kNaN), kNaN);
}

inline double log_full(double x) { return x < 0x1p-1022 ? log(x * 0x1p54) - 54 * kLn2 : log(x); }

// log(1 + t) for finite t >= 0, relative error <= 2^-50. Below sqrt(2) - 1 no rounding of 1 + t
// takes place; above, it moves the logarithm by u, which is at most 3 u of its value.
ASSAY_CORE double log1p(double t) {
  const bool large = t > 0x1.a8279ap-2;
  const LogParts parts = log_parts(select(large, 1 + t, 1.0));
  const double f = select(large, parts.f, t);
  return parts.k * kLn2High + (log1p_reduced(f) + parts.k * kLn2Low);
}

}  // namespace assay::core
