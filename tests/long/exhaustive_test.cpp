// Every float32 argument of the fast functions against MPFR: array form, every bit of every result.
//
//   assay_long_tests --gtest_filter='Exhaustive*' [--stride=N]
//
// MPFR needs about 2 microseconds per value, so all 2^32 arguments of one function take hours;
// --stride=N (default 4001, a prime) takes every N-th bit pattern, starting at a different one per
// function. --stride=1 is the proof by exhaustion. To make it affordable, a result is first
// compared with a plain long double evaluation of the C library, and MPFR is asked only where that
// is within 2^-10 ulp of a boundary or disagrees.

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "runtime/numeric/elementary.h"

namespace assay::exhaustive_test {
namespace {

using Precise = long double (*)(long double);
using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

std::uint64_t stride() {
  static const std::uint64_t value = [] {
    for (const std::string& argument : ::testing::internal::GetArgvs()) {
      const std::string prefix = "--stride=";
      if (argument.rfind(prefix, 0) == 0)
        return std::strtoull(argument.c_str() + prefix.size(), nullptr, 10);
    }
    return 4001ULL;
  }();
  return value == 0 ? 1 : value;
}

float by_mpfr(Exact exact, float x) {
  mpfr_t value;
  mpfr_init2(value, 24);
  mpfr_set_flt(value, x, MPFR_RNDN);
  mpfr_t result;
  mpfr_init2(result, 24);
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  int inexact = exact(result, value, MPFR_RNDN);
  inexact = mpfr_check_range(result, inexact, MPFR_RNDN);
  mpfr_subnormalize(result, inexact, MPFR_RNDN);
  const float rounded = mpfr_get_flt(result, MPFR_RNDN);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_clear(value);
  mpfr_clear(result);
  return rounded;
}

// The C library's long double functions err by a few 2^-64; 2^-52 leaves room for 2^12 times that.
float expected(Precise precise, Exact exact, float x) {
  const long double y = precise(static_cast<long double>(x));
  const auto low = static_cast<float>(y * (1 - 0x1p-52L));
  const auto high = static_cast<float>(y * (1 + 0x1p-52L));
  const bool ordinary = std::isfinite(y) && y != 0;
  return ordinary && low == high && std::isfinite(low) && low != 0 ? low : by_mpfr(exact, x);
}

template <class Fn>
void sweep(const Fn& fn, Precise precise, Exact exact, std::uint64_t first) {
  constexpr std::size_t kChunk = 1 << 16;
  std::vector<float> x;
  std::vector<float> y(kChunk);
  std::uint64_t wrong = 0;
  for (std::uint64_t pattern = first % stride(); pattern < (std::uint64_t{1} << 32);) {
    x.clear();
    for (; x.size() < kChunk && pattern < (std::uint64_t{1} << 32); pattern += stride()) {
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(pattern)));
    }
    cr(fn, std::span<const float>(x), std::span<float>(y).first(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float wanted = expected(precise, exact, x[i]);
      const auto got = std::bit_cast<std::uint32_t>(y[i]);
      const bool same =
          std::isnan(wanted) ? got == 0x7FC00000 : got == std::bit_cast<std::uint32_t>(wanted);
      if (same) continue;
      ASSERT_LT(++wrong, 10U);
      ADD_FAILURE() << std::hexfloat << "x = " << x[i] << ": " << y[i] << ", expected " << wanted;
    }
  }
}

int sigmoid_by_mpfr(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_t e;
  mpfr_init2(e, 500);
  const mpfr_exp_t low = mpfr_get_emin();
  const mpfr_exp_t high = mpfr_get_emax();
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_neg(e, x, MPFR_RNDN);
  mpfr_exp(e, e, MPFR_RNDN);
  mpfr_add_ui(e, e, 1, MPFR_RNDN);
  mpfr_ui_div(e, 1, e, MPFR_RNDN);
  const int inexact = mpfr_set(y, e, MPFR_RNDN);
  mpfr_clear(e);
  mpfr_set_emin(low);
  mpfr_set_emax(high);
  return inexact;
}

int reciprocal_by_mpfr(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rounding) {
  return mpfr_ui_div(y, 1, x, rounding);
}

// No theorem says that erf and the GELUs never tie; that Ziv's loop ends for an argument is shown
// by running it (a runaway is an assertion).
template <class Fn>
void loops_end(const Fn& fn) {
  std::vector<float> x(1 << 16);
  std::vector<float> y(x.size());
  for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << 32);) {
    for (float& value : x) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
      pattern += stride();
    }
    cr(fn, std::span<const float>(x), std::span<float>(y));
    // Each is bounded by |x| (erf by 1.13 |x|): a result outside shows a broken loop.
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_FALSE(std::fabs(y[i]) > 1.2F * std::fabs(x[i]) + 0x1p-140F) << x[i];
    }
  }
}

TEST(Exhaustive, LoopsEnd) {
  loops_end(ErfFn{});
  loops_end(GeluErfFn{});
  loops_end(GeluTanhFn{});
}

TEST(Exhaustive, Exp) { sweep(ExpFn{}, std::exp, mpfr_exp, 1); }
TEST(Exhaustive, Log) { sweep(LogFn{}, std::log, mpfr_log, 2); }
TEST(Exhaustive, Tanh) { sweep(TanhFn{}, std::tanh, mpfr_tanh, 3); }
TEST(Exhaustive, Sigmoid) {
  sweep(
      SigmoidFn{}, [](long double x) { return 1 / (1 + std::exp(-x)); }, sigmoid_by_mpfr, 4);
}
TEST(Exhaustive, Erf) { sweep(ErfFn{}, std::erf, mpfr_erf, 5); }
TEST(Exhaustive, Sqrt) { sweep(SqrtFn{}, std::sqrt, mpfr_sqrt, 6); }
TEST(Exhaustive, Reciprocal) {
  sweep(
      ReciprocalFn{}, [](long double x) { return 1 / x; }, reciprocal_by_mpfr, 7);
}
TEST(Exhaustive, Sin) { sweep(SinFn{}, std::sin, mpfr_sin, 8); }
TEST(Exhaustive, Atan) { sweep(AtanFn{}, std::atan, mpfr_atan, 9); }

}  // namespace
}  // namespace assay::exhaustive_test
