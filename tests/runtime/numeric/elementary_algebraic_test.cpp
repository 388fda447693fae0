// Algebraic functions against MPFR, with true ties, and powers.

#include "tests/runtime/numeric/elementary_oracle.h"

namespace assay::elementary_algebraic_test {
namespace {

using namespace test;

const float kInf = std::numeric_limits<float>::infinity();
const float kMax = std::numeric_limits<float>::max();
const float kTiny = std::numeric_limits<float>::denorm_min();

TEST(ElementaryAlgebraic, Sqrt) {
  check_all(
      SqrtFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_sqrt(y, x, MPFR_RNDN); }, kTiny, kMax);
}
TEST(ElementaryAlgebraic, Rsqrt) {
  check_all(
      RsqrtFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_rec_sqrt(y, x, MPFR_RNDN); }, kTiny, kMax);
}
TEST(ElementaryAlgebraic, Reciprocal) {
  check_all(
      ReciprocalFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_ui_div(y, 1, x, MPFR_RNDN); }, kTiny,
      kMax);
}
TEST(ElementaryAlgebraic, Softsign) {
  check_all(SoftsignFn{}, [](mpfr_ptr y, mpfr_srcptr x) {
    mpfr_abs(y, x, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
  });
}
TEST(ElementaryAlgebraic, LeakyRelu) {
  const float alpha = 0.01F;
  check_all(LeakyReluFn{alpha}, [alpha](mpfr_ptr y, mpfr_srcptr x) {
    mpfr_mul_d(y, x, mpfr_sgn(x) < 0 ? alpha : 1.0F, MPFR_RNDN);
  });
}
TEST(ElementaryAlgebraic, HardSigmoid) {
  const Oracle oracle = [](mpfr_ptr y, mpfr_srcptr x) {
    mpfr_mul_d(y, x, 0.2F, MPFR_RNDN);
    mpfr_add_d(y, y, 0.5, MPFR_RNDN);
    if (mpfr_cmp_ui(y, 1) > 0) mpfr_set_ui(y, 1, MPFR_RNDN);
    if (mpfr_sgn(y) <= 0) mpfr_set_zero(y, 1);
  };
  const auto points = sample_floats(20000, -kMax, kMax);
  check_float(HardSigmoidFn{}, oracle, points);
  check_core(HardSigmoidFn{}, oracle, points);
  check_double(HardSigmoidFn{}, oracle, points);
}
TEST(ElementaryAlgebraic, HardSwish) {
  const Oracle oracle = [](mpfr_ptr y, mpfr_srcptr x) {
    if (mpfr_cmp_si(x, -3) <= 0) return mpfr_set_zero(y, -1);
    if (mpfr_cmp_si(x, 3) >= 0) return static_cast<void>(mpfr_set(y, x, MPFR_RNDN));
    mpfr_add_ui(y, x, 3, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_div_ui(y, y, 6, MPFR_RNDN);
  };
  check_all(HardSwishFn{}, oracle);
}
TEST(ElementaryAlgebraic, RoundFloorCeil) {
  const auto points = sample_floats(20000, -kMax, kMax);
  for (const float x : points) {
    mpfr_t value;
    mpfr_init2(value, 200);
    mpfr_set_d(value, x, MPFR_RNDN);
    mpfr_rint(value, value, MPFR_RNDN);
    ASSERT_TRUE(same_number(cr(RoundFn{}, x), mpfr_get_flt(value, MPFR_RNDN), x));
    mpfr_set_d(value, x, MPFR_RNDN);
    mpfr_floor(value, value);
    ASSERT_TRUE(same_number(cr(FloorFn{}, x), mpfr_get_flt(value, MPFR_RNDN), x));
    ASSERT_TRUE(same_number(evaluate(FloorFn{}, double(x)), mpfr_get_d(value, MPFR_RNDN), x));
    mpfr_set_d(value, x, MPFR_RNDN);
    mpfr_ceil(value, value);
    ASSERT_TRUE(same_number(cr(CeilFn{}, x), mpfr_get_flt(value, MPFR_RNDN), x));
    mpfr_clear(value);
  }
  EXPECT_EQ(bits_of(RoundFn{}, 0.5F), bits(0));
  EXPECT_EQ(bits_of(RoundFn{}, 1.5F), bits(2));
  EXPECT_EQ(bits_of(RoundFn{}, -2.5F), bits(-2));
  EXPECT_EQ(bits_of(RoundFn{}, -0.2F), bits(-0.0));
  EXPECT_EQ(bits_of(CeilFn{}, -0.2F), bits(-0.0));
  EXPECT_EQ(bits_of(FloorFn{}, -0.2F), bits(-1));
  EXPECT_EQ(bits_of(RoundFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(FloorFn{}, -std::nanf("")), kNaNBits);
  const dd above_half = dd(2.5) + 0x1p-80;
  EXPECT_EQ(dd_hi(evaluate(RoundFn{}, above_half)), 3.0);
  EXPECT_EQ(dd_hi(evaluate(RoundFn{}, dd(2.5))), 2.0);
  EXPECT_EQ(dd_hi(evaluate(RoundFn{}, dd(-3.5))), -4.0);
  EXPECT_EQ(dd_hi(evaluate(FloorFn{}, dd(3.0) - 0x1p-80)), 2.0);
}

// x (x + 3) / 6 = m exactly on the midpoint m between two floats: for x = 3 k the value is k (k +
// 1) 3/2.. with k dyadic.
TEST(ElementaryAlgebraic, HardSwishTies) {
  int ties = 0;
  std::mt19937_64 rng(8);
  for (int i = 0; i < 200000; ++i) {
    // x = 3 n / 2^s: x (x + 3) / 6 = 3 n (n + 2^s) / 2^(2s + 1); 25-bit odd numerators are ties.
    const int s = 11 + static_cast<int>(rng() % 4);
    const std::int64_t n = static_cast<std::int64_t>(rng() % (1ULL << s)) - (1LL << (s - 1));
    const float x = static_cast<float>(std::ldexp(3.0 * static_cast<double>(n), -s));
    const std::int64_t numerator = 3 * n * (n + (1LL << s));
    const double exact = std::ldexp(static_cast<double>(numerator), -(2 * s + 1));
    ASSERT_EQ(cr(HardSwishFn{}, x), static_cast<float>(exact)) << x;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(std::llabs(numerator));
    if (magnitude == 0) continue;
    const std::uint64_t odd = magnitude >> std::countr_zero(magnitude);
    ties += std::bit_width(odd) == 25 ? 1 : 0;
  }
  EXPECT_GT(ties, 100);
}

TEST(ElementaryAlgebraic, SpecialValues) {
  EXPECT_EQ(bits_of(SqrtFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(SqrtFn{}, -1.0F), kNaNBits);
  EXPECT_EQ(bits_of(RsqrtFn{}, -0.0F), bits(-kInf));
  EXPECT_EQ(bits_of(RsqrtFn{}, kInf), bits(0));
  EXPECT_EQ(bits_of(RsqrtFn{}, -4.0F), kNaNBits);
  EXPECT_EQ(bits_of(RsqrtFn{}, 4.0F), bits(0.5));
  EXPECT_EQ(bits_of(ReciprocalFn{}, -0.0F), bits(-kInf));
  EXPECT_EQ(bits_of(ReciprocalFn{}, -kInf), bits(-0.0));
  EXPECT_EQ(bits_of(SoftsignFn{}, kInf), kNaNBits);
  EXPECT_EQ(bits_of(SoftsignFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(LeakyReluFn{0.1F}, -kInf), bits(-kInf));
  EXPECT_EQ(bits_of(LeakyReluFn{0.0F}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(LeakyReluFn{0.1F}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(ThresholdedReluFn{2.0F}, 2.0F), bits(0));
  EXPECT_EQ(bits_of(ThresholdedReluFn{2.0F}, 3.0F), bits(3));
  EXPECT_EQ(bits_of(ThresholdedReluFn{2.0F}, -std::nanf("")), kNaNBits);
  EXPECT_EQ(bits_of(HardSigmoidFn{}, kInf), bits(1));
  EXPECT_EQ(bits_of(HardSigmoidFn{}, -kInf), bits(0));
  EXPECT_EQ(bits_of(HardSigmoidFn{}, -2.5F), bits(std::fma(0.2F, -2.5F, 0.5F) > 0 ? 0x1p-25 : 0));
  EXPECT_EQ(bits_of(HardSwishFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(HardSwishFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(HardSwishFn{}, -3.0F), bits(-0.0));
  EXPECT_EQ(bits_of(HardSwishFn{}, 3e38F), bits(3e38F));
}

void check_pow(float x, float y) {
  mpfr_t base;
  mpfr_t exponent;
  mpfr_t power;
  mpfr_init2(base, 24);
  mpfr_init2(exponent, 24);
  mpfr_init2(power, 2000);
  mpfr_set_flt(base, x, MPFR_RNDN);
  mpfr_set_flt(exponent, y, MPFR_RNDN);
  mpfr_pow(power, base, exponent, MPFR_RNDN);
  ASSERT_TRUE(same_number(cr_pow(x, y), mpfr_get_flt(power, MPFR_RNDN), x)) << y;
  ASSERT_TRUE(same_number(cr_pow(double(x), double(y)), mpfr_get_d(power, MPFR_RNDN), x)) << y;
  const double expected = mpfr_get_d(power, MPFR_RNDN);
  const double computed = evaluate_pow(double(x), double(y));
  if (std::isfinite(expected) && std::fabs(expected) > 0x1p-1000) {
    ASSERT_LE(std::fabs(computed - expected), std::fabs(expected) * 0x1p-52) << x << " " << y;
  } else if (!std::isfinite(expected)) {
    ASSERT_TRUE(same_number(computed, expected, x)) << y;
  }
  mpfr_clear(base);
  mpfr_clear(exponent);
  mpfr_clear(power);
}

TEST(ElementaryPow, RandomPairs) {
  std::mt19937_64 rng(9);
  std::uniform_real_distribution<float> base(-8.0F, 8.0F);
  std::uniform_real_distribution<float> exponent(-6.0F, 6.0F);
  for (int i = 0; i < 20000; ++i) {
    const float x = base(rng);
    check_pow(std::fabs(x), exponent(rng));
    check_pow(x, std::rint(exponent(rng)));
    check_pow(std::bit_cast<float>(static_cast<std::uint32_t>(rng())), exponent(rng));
    if (HasFatalFailure()) return;
  }
}

// The values of |y log x| are large, so that e^(y log x) in double is off by up to 2^-46, and the
// exact powers so near a midpoint that the double lies on its other side, by more than 2^-52. Found
// among 2^28 random pairs: rounding e^(y log x) and MPFR's power gives different floats.
TEST(ElementaryPow, NextToMidpoints) {
  const float pairs[][2] = {{0x1.507a38p+0F, -0x1.fd5f0ep+7F}, {0x1.ea8f32p-1F, 0x1.89bc1cp+10F},
                            {0x1.276cb4p-1F, -0x1.f02a0ap+6F}, {0x1.df71f6p-1F, 0x1.3b9faap+10F},
                            {0x1.d679a8p-1F, 0x1.dbb79p+9F},   {0x1.4e0168p-1F, 0x1.7c957ap+7F},
                            {0x1.40d15cp-1F, -0x1.37319cp+7F}, {0x1.ee0a44p-1F, 0x1.104218p+11F},
                            {0x1.886d6cp-1F, 0x1.01dda4p+8F},  {0x1.6a43dp-1F, -0x1.7ad86ep+7F},
                            {0x1.324576p+0F, -0x1.a1a59ap+8F}, {0x1.d3a81cp-1F, 0x1.c970bcp+9F}};
  for (const auto& [x, y] : pairs) {
    ASSERT_NO_FATAL_FAILURE(check_pow(x, y));
    ASSERT_NO_FATAL_FAILURE(check_pow(-x, std::rint(y)));
  }
}

// Squares of 13-bit numbers times 2^-k fill 25 bits: (4097)^2 = 2^24 + 2^13 + 1 is a tie; so are
// roots' powers.
TEST(ElementaryPow, TiesAndExactCases) {
  EXPECT_EQ(cr_pow(4097.0F, 2.0F), 16785408.0F);
  EXPECT_EQ(cr_pow(4099.0F, 2.0F), 16801800.0F);  // 16801801: tie, 16801800 is even
  EXPECT_EQ(cr_pow(257.0F, 3.0F), 16974592.0F);   // 16974593: tie
  EXPECT_EQ(cr_pow(1.5F, 15.0F), static_cast<float>(14348907.0 / 32768));
  EXPECT_EQ(cr_pow(16785409.0F - 1, 0.5F), cr(SqrtFn{}, 16785408.0F));
  for (const float x :
       {2.0F, 3.0F, 0.5F, 4097.0F, -3.0F, 1e-20F, 0.0F, -0.0F, kInf, -kInf, 1.0F, -1.0F}) {
    for (const float y : {0.0F, -0.0F, 1.0F, 2.0F, 3.0F, 0.5F, -1.0F, -0.5F, 1e10F, kInf, -kInf}) {
      check_pow(x, y);
    }
  }
}

TEST(ElementaryPow, Fmod) {
  EXPECT_EQ(fmod_exact(5.5F, -2.0F), 1.5F);
  EXPECT_EQ(fmod_exact(-5.5, 2.0), -1.5);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(fmod_exact(1.0F, 0.0F)), kNaNBits);
  EXPECT_EQ(dd_hi(fmod_exact(dd(1e20) + 1.0, dd(7.0))), 3.0);  // 10^20 mod 7 = 2
}

TEST(Dd, ArithmeticIsAccurate) {
  // Sloppy addition loses the whole sum under cancellation: (1 + 2^-60) - (1 + 2^-61 - 2^-113).
  const dd a = dd::add(1.0, 0x1p-60);
  const dd b(1.0, 0x1p-61 - 0x1p-113);
  EXPECT_EQ(dd_hi(a - b), 0x1p-61 + 0x1p-113);
  const dd third = dd(1.0) / 3.0;
  EXPECT_LT(std::fabs(dd_hi(third * 3.0 - 1.0)), 0x1p-104);
  EXPECT_EQ(std::numeric_limits<dd>::digits, 104);
}

}  // namespace
}  // namespace assay::elementary_algebraic_test
