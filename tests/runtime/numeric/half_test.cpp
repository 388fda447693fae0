// Half and BFloat16 against MPFR with the formats' exponent ranges, every bit pattern and every
// tie.

#include "runtime/numeric/half.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <random>

namespace assay::half_test {
namespace {

// Rounds once to `precision` bits with the least subnormal 2^low and overflow at 2^top.
double round_with_mpfr(double value, int precision, int low, int top) {
  mpfr_set_emin(low + 1);
  mpfr_set_emax(top);
  mpfr_t rounded;
  mpfr_init2(rounded, precision);
  int inexact = mpfr_set_d(rounded, value, MPFR_RNDN);
  inexact = mpfr_check_range(rounded, inexact, MPFR_RNDN);
  mpfr_subnormalize(rounded, inexact, MPFR_RNDN);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return result;
}

double expected_half(double value) { return round_with_mpfr(value, 11, -24, 16); }
double expected_bfloat16(double value) { return round_with_mpfr(value, 8, -133, 128); }

template <class T>
void check_all_patterns_and_midpoints(double (*expected)(double)) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const T value = T::from_bits(static_cast<std::uint16_t>(bits));
    const double wide{value};
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(double(T(wide))));
      continue;
    }
    ASSERT_EQ(T(wide).bits, bits);
    const T next = T::from_bits(static_cast<std::uint16_t>(bits + 1));
    if (std::isnan(double(next)) || std::isinf(double(next)) || (bits & 0x7FFF) == 0x7FFF) continue;
    const double middle = (wide + double(next)) / 2;
    for (const double point :
         {middle, std::nextafter(middle, -1e300), std::nextafter(middle, 1e300)}) {
      ASSERT_EQ(double(T(point)), expected(point)) << std::hexfloat << point;
    }
  }
}

TEST(Half, AllPatternsAndMidpoints) { check_all_patterns_and_midpoints<Half>(expected_half); }
TEST(BFloat16, AllPatternsAndMidpoints) {
  check_all_patterns_and_midpoints<BFloat16>(expected_bfloat16);
}

TEST(Half, RandomDoublesRoundOnce) {
  std::mt19937_64 rng(4);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(rng())),
                                    static_cast<int>(rng() % 60) - 63 - 35);
    ASSERT_EQ(double(Half(value)), expected_half(value)) << std::hexfloat << value;
    const double wide = std::bit_cast<double>(rng());
    if (std::isnan(wide)) continue;
    ASSERT_EQ(double(BFloat16(wide)), expected_bfloat16(wide));
  }
}

TEST(Half, DoubleRoundingIsAvoided) {
  // 1 + 2^-11 + 2^-40 rounds up; through float it would first become the tie and then go to even.
  EXPECT_EQ(Half(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3C01);
  EXPECT_EQ(Half(1.0 + 0x1p-11).bits, 0x3C00);
}

TEST(Half, SpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Half(infinity).bits, 0x7C00);
  EXPECT_EQ(Half(-infinity).bits, 0xFC00);
  EXPECT_EQ(Half(-0.0).bits, 0x8000);
  EXPECT_EQ(Half(65519.999).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0).bits, 0x7C00);
  EXPECT_EQ(Half(-std::numeric_limits<double>::quiet_NaN()).bits, 0x7E00);
  EXPECT_EQ(BFloat16(std::numeric_limits<double>::quiet_NaN()).bits, 0x7FC0);
  EXPECT_EQ(Half(1e-320).bits, 0);
}

}  // namespace
}  // namespace assay::half_test
