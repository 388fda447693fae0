#pragma once

// Checks of one elementary function against an MPFR oracle that the test writes down itself (400
// bits, no Ziv loop).

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "runtime/numeric/elementary.h"
#include "runtime/numeric/elementary_radius.h"

namespace assay::test {

// Sets y, 400 bits, from x.
using Oracle = std::function<void(mpfr_ptr y, mpfr_srcptr x)>;

inline double infinity() { return std::numeric_limits<double>::infinity(); }

class Expected {
 public:
  Expected(const Oracle& oracle, double x) : Expected(oracle, dd(x)) {}
  Expected(const Oracle& oracle, const dd& x) {
    mpfr_init2(value_, 3000);
    mpfr_t argument;
    mpfr_init2(argument, 2200);
    mpfr_set_d(argument, dd_hi(x), MPFR_RNDN);
    mpfr_add_d(argument, argument, dd_lo(x), MPFR_RNDN);
    mpfr_set_prec(value_, 400);
    oracle(value_, argument);
    mpfr_clear(argument);
  }
  ~Expected() { mpfr_clear(value_); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  float to_float() const { return mpfr_get_flt(value_, MPFR_RNDN); }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }
  // Through a double rounded toward zero whose last bit stands for the rest.
  double sticky() const {
    const double value = mpfr_get_d(value_, MPFR_RNDZ);
    if (!std::isfinite(value) || mpfr_cmp_d(value_, value) == 0) return value;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | 1U);
  }
  double relative_error(double computed) const { return relative_error(dd(computed)); }
  double relative_error(const dd& computed) const {
    if (mpfr_zero_p(value_)) return dd_hi(computed) == 0 ? 0 : infinity();
    mpfr_t difference;
    mpfr_init2(difference, 400);
    mpfr_sub_d(difference, value_, dd_hi(computed), MPFR_RNDN);
    mpfr_sub_d(difference, difference, dd_lo(computed), MPFR_RNDN);
    mpfr_div(difference, difference, value_, MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
  }

 private:
  mpfr_t value_;
};

// Random bit patterns, random magnitudes around 1, and a grid of simple numbers.
inline std::vector<float> sample_floats(std::size_t n, float low, float high) {
  std::mt19937_64 rng(12345);
  std::vector<float> points;
  for (int i = -80; i <= 80; ++i) points.push_back(static_cast<float>(i) / 8);
  for (int e = -149; e < 128; e += 7) {
    points.push_back(std::ldexp(1.0F, e));
    points.push_back(-std::ldexp(1.0F, e));
  }
  std::uniform_real_distribution<float> uniform(-20.0F, 20.0F);
  std::uniform_real_distribution<float> near_one(0.5F, 2.0F);
  while (points.size() < n) {
    points.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
    points.push_back(uniform(rng));
    points.push_back(near_one(rng));
    points.push_back(std::ldexp(uniform(rng), -static_cast<int>(rng() % 40)));
  }
  std::erase_if(points, [&](float x) { return !(x >= low && x <= high); });
  return points;
}

template <class T>
::testing::AssertionResult same_number(T computed, T expected, double x) {
  const bool both_nan = std::isnan(double(computed)) && std::isnan(double(expected));
  const bool same = double(computed) == double(expected) &&
                    std::signbit(double(computed)) == std::signbit(double(expected));
  if (same || both_nan) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << std::hexfloat << "x = " << x << ": computed "
                                       << double(computed) << ", expected " << double(expected);
}

template <class Fn>
void check_float(const Fn& fn, const Oracle& oracle, const std::vector<float>& points) {
  std::vector<float> results(points.size());
  cr(fn, std::span<const float>(points), std::span<float>(results));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float x = points[i];
    const Expected expected(oracle, x);
    ASSERT_TRUE(same_number(results[i], expected.to_float(), x));
    ASSERT_TRUE(same_number(cr(fn, x), expected.to_float(), x));
    ASSERT_TRUE(same_number(cr_as<Half>(fn, x), Half(expected.sticky()), x));
    ASSERT_TRUE(same_number(cr_as<BFloat16>(fn, x), BFloat16(expected.sticky()), x));
  }
}

// The proved radius in front of Ziv's test: it holds, and a radius 2^10 times smaller would not.
// Where the double value is exact there is none.
template <class Fn>
void check_core(const Fn& fn, const Oracle& oracle, const std::vector<float>& points) {
  double worst = 0;
  for (const float x : points) {
    const double value = float_core(fn, x);
    const Expected expected(oracle, x);
    // Beyond float32's range only the side of it counts.
    const bool normal =
        std::isfinite(expected.to_float()) && std::fabs(expected.to_double()) >= 0x1p-126;
    if (std::isnan(value) || !normal) continue;
    const double error = expected.relative_error(value);
    ASSERT_LE(error, float_core_error(fn)) << std::hexfloat << x;
    worst = std::max(worst, error);
  }
  if (worst == 0) {
    EXPECT_EQ(float_core_error(fn), 0);
  } else {
    EXPECT_GT(worst, float_core_error(fn) * 0x1p-10);
  }
}

/// Float64 arguments: correctly rounded, and evaluated within the proved error, of which 2^-10
/// would be too little.
template <class Fn>
void check_double(const Fn& fn, const Oracle& oracle, const std::vector<float>& points) {
  std::mt19937_64 rng(6);
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); i += 7) {
    const double x = points[i] * (1 + 0x1p-30 * static_cast<double>(rng() % 1000));
    const Expected expected(oracle, x);
    if (std::fabs(expected.to_double()) < 0x1p-1000) continue;
    ASSERT_TRUE(same_number(cr(fn, x), expected.to_double(), x));
    if (std::isinf(expected.to_double())) continue;
    const double error = expected.relative_error(evaluate(fn, x));
    ASSERT_LE(error, f64_error(fn)) << std::hexfloat << x;
    worst = std::max(worst, error);
  }
  EXPECT_GT(worst, f64_error(fn) * 0x1p-10);
}

template <class Fn>
void check_wide(const Fn& fn, const Oracle& oracle, const std::vector<float>& points) {
  std::mt19937_64 rng(6);
  for (std::size_t i = 0; i < points.size(); i += 7) {
    const double x = points[i] * (1 + 0x1p-30 * static_cast<double>(rng() % 1000));
    const double size = std::fabs(Expected(oracle, x).to_double());
    if (!(size >= 0x1p-800) || std::isinf(size) || std::fabs(x) < 0x1p-800) continue;
    const dd wide = dd(x) + x * 0x1p-60;
    ASSERT_LE(Expected(oracle, wide).relative_error(evaluate(fn, wide)), dd_error())
        << std::hexfloat << x;
  }
}

template <class Fn>
void check_all(const Fn& fn, const Oracle& oracle, float low = -std::numeric_limits<float>::max(),
               float high = std::numeric_limits<float>::max()) {
  const auto points = sample_floats(8000, low, high);
  check_float(fn, oracle, points);
  check_core(fn, oracle, points);
  check_double(fn, oracle, points);
  check_wide(fn, oracle, points);
}

template <class Fn>
std::uint32_t bits_of(const Fn& fn, float x) {
  const float scalar = cr(fn, x);
  float array = 0;
  cr(fn, std::span<const float>(&x, 1), std::span<float>(&array, 1));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(scalar), std::bit_cast<std::uint32_t>(array)) << x;
  return std::bit_cast<std::uint32_t>(scalar);
}

inline std::uint32_t bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
inline constexpr std::uint32_t kNaNBits = 0x7FC00000;

}  // namespace assay::test
