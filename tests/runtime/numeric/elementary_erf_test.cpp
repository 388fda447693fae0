// erf and both forms of GELU against MPFR, and their special values by hand.

#include "tests/runtime/numeric/elementary_oracle.h"

namespace assay::elementary_erf_test {
namespace {

using namespace test;

const float kInf = std::numeric_limits<float>::infinity();

TEST(ElementaryErf, Erf) {
  check_all(ErfFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_erf(y, x, MPFR_RNDN); });
}

// x erfc(-x / sqrt 2) / 2, sqrt 2 at 700 bits because erfc magnifies the error of its argument by 2
// z^2.
TEST(ElementaryErf, GeluErf) {
  check_all(GeluErfFn{}, [](mpfr_ptr y, mpfr_srcptr x) {
    mpfr_t z;
    mpfr_init2(z, 700);
    mpfr_sqrt_ui(z, 2, MPFR_RNDN);
    mpfr_div(z, x, z, MPFR_RNDN);
    mpfr_neg(z, z, MPFR_RNDN);
    mpfr_erfc(y, z, MPFR_RNDN);
    mpfr_clear(z);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_div_ui(y, y, 2, MPFR_RNDN);
  });
}

// x (1 + tanh t) / 2 as written; 4000 bits absorb the cancellation on the left up to |t| = 1300.
TEST(ElementaryErf, GeluTanh) {
  check_all(
      GeluTanhFn{},
      [](mpfr_ptr y, mpfr_srcptr x) {
        mpfr_t t;
        mpfr_t c;
        mpfr_init2(t, 4000);
        mpfr_init2(c, 4000);
        mpfr_pow_ui(t, x, 3, MPFR_RNDN);
        mpfr_set_str(c, "0.044715", 10, MPFR_RNDN);
        mpfr_mul(t, t, c, MPFR_RNDN);
        mpfr_add(t, t, x, MPFR_RNDN);
        mpfr_const_pi(c, MPFR_RNDN);
        mpfr_ui_div(c, 2, c, MPFR_RNDN);
        mpfr_sqrt(c, c, MPFR_RNDN);
        mpfr_mul(t, t, c, MPFR_RNDN);
        mpfr_tanh(t, t, MPFR_RNDN);
        mpfr_add_ui(t, t, 1, MPFR_RNDN);
        mpfr_mul(t, t, x, MPFR_RNDN);
        mpfr_div_ui(y, t, 2, MPFR_RNDN);
        mpfr_clear(t);
        mpfr_clear(c);
      },
      -26.0F, 26.0F);
}

TEST(ElementaryErf, SpecialValues) {
  EXPECT_EQ(bits_of(ErfFn{}, -kInf), bits(-1));
  EXPECT_EQ(bits_of(ErfFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(ErfFn{}, -std::nanf("1")), kNaNBits);
  EXPECT_EQ(bits_of(GeluErfFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(GeluErfFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(GeluErfFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(GeluErfFn{}, -3e38F), bits(-0.0));
  EXPECT_EQ(bits_of(GeluErfFn{}, 3e38F), bits(3e38F));
  EXPECT_EQ(bits_of(GeluTanhFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(GeluTanhFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(GeluTanhFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(GeluTanhFn{}, -3e38F), bits(-0.0));
  EXPECT_EQ(bits_of(GeluTanhFn{}, 3e38F), bits(3e38F));
  EXPECT_EQ(evaluate(GeluErfFn{}, -1e308), 0.0);
  EXPECT_EQ(evaluate(GeluTanhFn{}, -1e308), 0.0);
}

// 20 is beyond float's and double's resolution of 1 - Phi(x), but not of the tail of a half: the
// exact value lies below x, so a half-way float rounds down.
TEST(ElementaryErf, TailDecidesHalfTies) {
  const float tie = 32.0F + 0x1p-6F;  // between the halves 32 and 32 + 2^-5
  EXPECT_EQ(double(cr_as<Half>(GeluErfFn{}, tie)), 32.0);
  const float odd_tie = 32.0F + 0x1p-5F + 0x1p-6F;
  EXPECT_EQ(double(cr_as<Half>(GeluErfFn{}, odd_tie)), 32.0 + 0x1p-5);
  EXPECT_EQ(double(cr_as<Half>(SoftplusFn{}, tie)), 32.0 + 0x1p-5);
}

// GELU(x) = x/2 + 0.4 x^2: for an odd subnormal x/2 is a tie, and the rest lifts it.
TEST(ElementaryErf, SubnormalHalvesAreLifted) {
  for (const float odd : {0x1p-149F, 0x3p-149F, 0x5p-149F, 0x1FFFFp-149F}) {
    EXPECT_EQ(cr(GeluErfFn{}, odd), (std::ldexp(odd, 149) + 1) / 2 * 0x1p-149F);
    EXPECT_EQ(cr(GeluTanhFn{}, odd), (std::ldexp(odd, 149) + 1) / 2 * 0x1p-149F);
    EXPECT_EQ(cr(SwishFn{}, odd), (std::ldexp(odd, 149) + 1) / 2 * 0x1p-149F);
    EXPECT_EQ(cr(SwishFn{-1.0F}, odd), (std::ldexp(odd, 149) - 1) / 2 * 0x1p-149F);
    EXPECT_EQ(cr(GeluErfFn{}, -odd), -(std::ldexp(odd, 149) - 1) / 2 * 0x1p-149F);
  }
}

}  // namespace
}  // namespace assay::elementary_erf_test
