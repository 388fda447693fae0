#pragma once

#include "runtime/numeric/dd.h"
#include "runtime/numeric/elementary_core.h"

// Exponential and logarithm in double-double, from dd's own + - * / (no libm, no QD function).
// Internal. Errors: dd_exp below 2^-100 relative; dd_log below 2^-99 (1 + |log x|) absolute.

namespace assay {

// log 2 to 160 bits; the first word has 20 trailing zeros, so its product with |k| < 2^20 is exact.
inline constexpr double kDdLn2[] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33, 0x1.cc01f97b57a08p-87};

struct DdExpParts {
  dd q;   // e^r - 1
  int k;  // x = k log 2 + r
};

// r is divided by 2^9, the Taylor series of e^r - 1 takes 8 terms ((log 2/2^10)^9/9! < 2^-112), and
// q -> 2q + q^2 doubles the argument nine times.
//
// In units of v = 2^-106, a dd addition errs by at most 3 v of its result and a product by 7 v
// (Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic", 2017). r errs by 3 additions of results below 0.36: 3.3 v. q = sum r
// errs by 10.2 v relative, each doubling adds 3 v and 7 v q^2 / (2q + q^2), and enlarges what was
// there, by r e^r / (e^r - 1) < 1.2 in all: 47 v of q, |q| <= 0.42 (q + 1). With the last addition
// e^x errs by 3.3 v + 20 v + 3 v < 2^-101.
inline DdExpParts dd_exp_parts(const dd& x) {
  const double k = (dd_hi(x) * core::kLog2E + core::kRound) - core::kRound;
  const dd r = (((x - k * kDdLn2[0]) - dd::mul(k, kDdLn2[1])) - k * kDdLn2[2]) * 0x1p-9;
  dd sum = r / 8.0 + 1.0;
  for (int i = 7; i >= 2; --i) sum = sum * r / static_cast<double>(i) + 1.0;
  dd q = sum * r;
  for (int i = 0; i < 9; ++i) q = q * 2.0 + q * q;
  return {q, static_cast<int>(k)};
}

inline dd dd_scale(const dd& x, int k) {
  const int half = k >> 1;
  const double first = core::power_of_two(static_cast<std::uint64_t>(half));
  const double second = core::power_of_two(static_cast<std::uint64_t>(k - half));
  return {dd_hi(x) * first * second, dd_lo(x) * first * second};
}

inline dd dd_exp(const dd& x) {
  if (dd_hi(x) > 710) return {core::kInfinity, 0.0};
  if (dd_hi(x) < -750) return {0.0, 0.0};
  const DdExpParts parts = dd_exp_parts(x);
  return dd_scale(parts.q + 1.0, parts.k);
}

inline dd dd_expm1(const dd& x) {
  if (dd_hi(x) > 709) return dd_exp(x);
  if (dd_hi(x) < -80) return dd(-1.0) + dd_exp(x);
  const DdExpParts parts = dd_exp_parts(x);
  return parts.k == 0 ? parts.q : dd_scale(parts.q + 1.0, parts.k) - 1.0;
}

// log x for finite x > 0: y = log of the high word, then one step on e = x e^-y - 1 (|e| < 2^-48):
// log x = y + log(1 + e) = y + e - e^2/2 + O(2^-145). With v = 2^-106 the power
// errs by 27 v, its product with x, and so e, by 34 v, the last sum by 3 v of the result.
inline dd dd_log(const dd& x) {
  const double y = core::log_full(dd_hi(x));
  // e^-y alone may overflow or be subnormal; both factors get half of the exponent.
  const DdExpParts parts = dd_exp_parts(dd(-y));
  const dd product = dd_scale(dd_scale(x, parts.k / 2) * (parts.q + 1.0), parts.k - parts.k / 2);
  const dd e = product - 1.0;
  return dd(y) + (e - e * e * 0.5);
}

}  // namespace assay
