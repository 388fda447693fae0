#pragma once

#include <algorithm>
#include <cassert>
#include <optional>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/elementary_core.h"
#include "runtime/numeric/elementary_mpfr.h"
#include "runtime/numeric/elementary_radius.h"
#include "runtime/numeric/proved.h"
#include "runtime/numeric/ziv.h"

// Drivers that turn the pieces of one function into the templates of elementary.h. Internal.
//
// Each function specializes Impl<Fn> with
//   kError                      relative error of core() on float arguments; exceeds the proved
//   bound by at
//                               least 2^-51, which covers the rounding of the interval's ends; 0
//                               where core() is exact
//   kError64                    the same of core_full() on double arguments
//   core(fn, x)                 double, branch-free; NaN for whatever it does not handle
//   core_full(fn, x)            double, over the whole range of double
//   exact(fn, x)                results that are known without approximation: every argument at
//   which the
//                               value is rational, infinite or NaN must be among them
//   kTotal                      (optional, true) core_full() handles every argument, special values
//   too; exact()
//                               decides every argument and approximate() is never called
//   approximate(y, fn, x)       MPFR at y's precision p, error at most 2^(10-p) |y|
// and, where MPFR is too slow for it,
//   wide(fn, dd)                double-double
// and ends with ASSAY_ELEMENTARY(Fn).

namespace assay {

template <class Fn>
struct Impl;

namespace elementary {

inline constexpr std::size_t kBlock = 64;

// Exact tails at the places where a function runs into a constant: the value there is c (1 - tiny).
inline Tailed just_inside(double value) { return {.value = value, .tail = value > 0 ? -1 : 1}; }
// c (1 + tiny).
inline Tailed just_outside(double value) { return {.value = value, .tail = value > 0 ? 1 : -1}; }
// x/2 + c x^2 for tiny x, c of the given sign: x/2 may be a tie of the subnormal floats. Not for
// subnormal doubles.
inline bool is_tiny(double x) { return std::fabs(x) < 0x1p-60 && std::fabs(x) > 0x1p-1000; }
inline Tailed half_and_more(double x, double sign) {
  return {.value = x / 2, .tail = sign > 0 ? 1 : -1};
}
inline Tailed not_a_number() { return {.value = core::kNaN}; }

// The canonical quiet NaN has a clear sign and no payload.
inline Tailed canonical(Tailed number) {
  if (std::isnan(number.value)) number.value = core::kNaN;
  return number;
}

template <class Fn>
Tailed slow(const Fn& fn, double x) {
  if (std::isnan(x)) return not_a_number();
  if (const auto known = Impl<Fn>::exact(fn, x)) return canonical(*known);
  return mpfr_ziv([&](mpfr_ptr y) {
    const Mpfr argument(53, x);
    Impl<Fn>::approximate(y, fn, argument);
  });
}

// kError and kError64 by their names (proved.h).
template <class Fn>
ASSAY_CORE double ziv_error() {
  return proved<"float32, elementary", Fn>(Impl<Fn>::kError).value;
}
template <class Fn>
double wide_error() {
  return proved<"float64, elementary", Fn>(Impl<Fn>::kError64).value;
}

template <class Out, class Fn>
Out scalar(const Fn& fn, float x) {
  const double y = Impl<Fn>::core(fn, x);
  const double low = y * (1 - ziv_error<Fn>());
  const double high = y * (1 + ziv_error<Fn>());
  const Out rounded = narrow<Out>(low);
  if (!std::isnan(y) && same_bits(rounded, narrow<Out>(high))) return rounded;
  return round_tailed<Out>(slow(fn, x));
}

// One block: core, both ends of the interval, and a flag for every element whose ends differ (NaN
// included).
template <class Fn>
ASSAY_CORE bool block(Fn fn, const float* __restrict x, float* __restrict y,
                      std::int32_t* __restrict undecided) {
  const double error = ziv_error<Fn>();
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double value = Impl<Fn>::core(fn, static_cast<double>(x[i]));
    const auto low = static_cast<float>(value * (1 - error));
    const auto high = static_cast<float>(value * (1 + error));
    y[i] = low;
    undecided[i] = low == high ? 0 : 1;
  }
  std::int32_t any = 0;
  for (std::size_t i = 0; i < kBlock; ++i) any |= undecided[i];
  return any != 0;
}

template <class Fn>
bool block_base(const Fn& fn, const float* x, float* y, std::int32_t* undecided) {
  return block(fn, x, y, undecided);
}

#if defined(__x86_64__)
template <class Fn>
[[gnu::target("avx2")]] bool block_avx2(const Fn& fn, const float* x, float* y,
                                        std::int32_t* undecided) {
  return block(fn, x, y, undecided);
}
inline bool use_avx2() { return current_isa() >= Isa::avx2; }
#else
template <class Fn>
bool block_avx2(const Fn& fn, const float* x, float* y, std::int32_t* undecided) {
  return block(fn, x, y, undecided);
}
inline bool use_avx2() { return false; }
#endif

template <class Fn>
void finish_block(const Fn& fn, const float* x, float* y, const std::int32_t* undecided,
                  std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (undecided[i] != 0) y[i] = round_tailed<float>(slow(fn, x[i]));
  }
}

// `x` is copied block by block, so that it may be the output.
template <class Fn>
void array(const Fn& fn, std::span<const float> x, std::span<float> y) {
  assert(x.size() == y.size());
  const auto run = use_avx2() ? block_avx2<Fn> : block_base<Fn>;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - begin);
    float in[kBlock] = {};
    float out[kBlock];
    std::int32_t undecided[kBlock];
    std::copy_n(x.data() + begin, n, in);
    if (run(fn, in, out, undecided)) finish_block(fn, in, out, undecided, n);
    std::copy_n(out, n, y.data() + begin);
  }
}

template <class Fn>
inline constexpr bool is_total = requires {
  requires Impl<Fn>::kTotal;
};

template <class Fn>
double f64(const Fn& fn, double x) {
  if (std::isnan(x)) return core::kNaN;
  if constexpr (is_total<Fn>) return canonical({Impl<Fn>::core_full(fn, x)}).value;
  if (const auto known = Impl<Fn>::exact(fn, x)) return canonical(*known).value;
  return Impl<Fn>::core_full(fn, x);
}

template <class Fn>
dd wide_by_mpfr(const Fn& fn, const dd& x) {
  Mpfr argument(kDdPrecision);
  set_dd(argument, x);
  Mpfr y(140);
  Impl<Fn>::approximate(y, fn, argument);
  return get_dd(y);
}

// Known results of the high word hold for the dd argument where that is all of it, and beyond 2^8,
// where every tail is below 2^-106 and a function that returns its argument returns the low word
// too.
template <class Fn>
dd wide(const Fn& fn, const dd& x) {
  const double high = dd_hi(x);
  if (std::isnan(high)) return {core::kNaN, 0.0};
  constexpr bool kOwn = requires { Impl<Fn>::wide(fn, x); };
  const bool far = kOwn ? std::isinf(high) : std::fabs(high) > 256;
  if (far || (is_total<Fn> ? high == 0 : dd_lo(x) == 0)) {
    const auto known = Impl<Fn>::exact(fn, high);
    if (known && known->value == high) return x;
    if (known && (far || known->tail == 0)) return {canonical(*known).value, 0.0};
  }
  if constexpr (kOwn) {
    return Impl<Fn>::wide(fn, x);
  } else {
    return wide_by_mpfr(fn, x);
  }
}

}  // namespace elementary

template <class Out, class Fn>
Out cr_as(const Fn& fn, float x) {
  return elementary::scalar<Out>(fn, x);
}

template <class Fn>
double cr(const Fn& fn, double x) {
  return elementary::slow(fn, x).value;
}

template <class Fn>
void cr(const Fn& fn, std::span<const float> x, std::span<float> y) {
  elementary::array(fn, x, y);
}

template <class Fn>
double evaluate(const Fn& fn, double x) {
  return elementary::f64(fn, x);
}

template <class Fn>
dd evaluate(const Fn& fn, const dd& x) {
  return elementary::wide(fn, x);
}

template <class Fn>
double f64_error(const Fn&) {
  return elementary::wide_error<Fn>();
}

template <class Fn>
double float_core(const Fn& fn, float x) {
  return Impl<Fn>::core(fn, static_cast<double>(x));
}

template <class Fn>
double float_core_error(const Fn&) {
  return elementary::ziv_error<Fn>();
}

// Instantiates the templates of elementary.h for one function.
#define ASSAY_ELEMENTARY(Fn)                                             \
  template float cr_as<float>(const Fn&, float);                         \
  template Half cr_as<Half>(const Fn&, float);                           \
  template BFloat16 cr_as<BFloat16>(const Fn&, float);                   \
  template double cr(const Fn&, double);                                 \
  template void cr(const Fn&, std::span<const float>, std::span<float>); \
  template double evaluate(const Fn&, double);                           \
  template dd evaluate(const Fn&, const dd&);                            \
  template double f64_error(const Fn&);                                  \
  template double float_core(const Fn&, float);                          \
  template double float_core_error(const Fn&)

}  // namespace assay
