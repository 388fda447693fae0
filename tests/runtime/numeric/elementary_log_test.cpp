// Logarithms, inverse hyperbolic and trigonometric functions against MPFR, and special values by
// hand.

#include "tests/runtime/numeric/elementary_oracle.h"

namespace assay::elementary_log_test {
namespace {

using namespace test;

const float kInf = std::numeric_limits<float>::infinity();
const float kMax = std::numeric_limits<float>::max();
const float kTiny = std::numeric_limits<float>::denorm_min();

TEST(ElementaryLog, Log) {
  check_all(
      LogFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_log(y, x, MPFR_RNDN); }, kTiny, kMax);
}
// Just outside of where MPFR takes over: the error of e^-y counts most against so small a result.
TEST(ElementaryLog, DoubleDoubleNextToOne) {
  std::vector<float> points;
  for (int i = 0; i < 20000; ++i) {
    const float step = 0x1p-10F + static_cast<float>(i) * 0x1p-22F;
    points.push_back(i % 2 == 0 ? 1 + step : 1 - step);
  }
  check_wide(
      LogFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_log(y, x, MPFR_RNDN); }, points);
}
TEST(ElementaryLog, Asinh) {
  check_all(AsinhFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_asinh(y, x, MPFR_RNDN); });
}
TEST(ElementaryLog, Acosh) {
  check_all(
      AcoshFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_acosh(y, x, MPFR_RNDN); }, 1.0F, kMax);
}
TEST(ElementaryLog, Atanh) {
  check_all(
      AtanhFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_atanh(y, x, MPFR_RNDN); }, -0.9999F, 0.9999F);
}

TEST(ElementaryLog, SpecialValues) {
  EXPECT_EQ(bits_of(LogFn{}, 0.0F), bits(-kInf));
  EXPECT_EQ(bits_of(LogFn{}, -0.0F), bits(-kInf));
  EXPECT_EQ(bits_of(LogFn{}, -1.0F), kNaNBits);
  EXPECT_EQ(bits_of(LogFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(LogFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(LogFn{}, 1.0F), bits(0));
  EXPECT_EQ(bits_of(AsinhFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(AsinhFn{}, -kInf), bits(-kInf));
  EXPECT_EQ(bits_of(AcoshFn{}, 1.0F), bits(0));
  EXPECT_EQ(bits_of(AcoshFn{}, 0.5F), kNaNBits);
  EXPECT_EQ(bits_of(AcoshFn{}, -2.0F), kNaNBits);
  EXPECT_EQ(bits_of(AcoshFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(AtanhFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(AtanhFn{}, 1.0F), bits(kInf));
  EXPECT_EQ(bits_of(AtanhFn{}, -1.0F), bits(-kInf));
  EXPECT_EQ(bits_of(AtanhFn{}, 1.5F), kNaNBits);
  EXPECT_EQ(bits_of(AtanhFn{}, kInf), kNaNBits);
}

TEST(ElementaryTrig, Sin) {
  check_all(SinFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_sin(y, x, MPFR_RNDN); });
}
TEST(ElementaryTrig, Cos) {
  check_all(CosFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_cos(y, x, MPFR_RNDN); });
}
TEST(ElementaryTrig, Tan) {
  check_all(TanFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_tan(y, x, MPFR_RNDN); });
}
TEST(ElementaryTrig, Atan) {
  check_all(AtanFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_atan(y, x, MPFR_RNDN); });
}
TEST(ElementaryTrig, Asin) {
  check_all(
      AsinFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_asin(y, x, MPFR_RNDN); }, -0.9999F, 0.9999F);
}
TEST(ElementaryTrig, Acos) {
  check_all(
      AcosFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_acos(y, x, MPFR_RNDN); }, -0.9999F, 0.9999F);
}

// The proof of the reduction needs |x - k pi/2| > 2^-30 for every float up to 2^20: the two floats
// around k pi/2 are the closest ones, for every k.
TEST(ElementaryTrig, FloatsKeepAwayFromMultiplesOfHalfPi) {
  mpfr_t half_pi;
  mpfr_t multiple;
  mpfr_init2(half_pi, 200);
  mpfr_init2(multiple, 200);
  mpfr_const_pi(half_pi, MPFR_RNDN);
  mpfr_div_ui(half_pi, half_pi, 2, MPFR_RNDN);
  double nearest = 1;
  for (unsigned long k = 1; k < 668000; ++k) {
    mpfr_mul_ui(multiple, half_pi, k, MPFR_RNDN);
    const float x = mpfr_get_flt(multiple, MPFR_RNDN);
    mpfr_sub_d(multiple, multiple, x, MPFR_RNDN);
    nearest = std::min(nearest, std::fabs(mpfr_get_d(multiple, MPFR_RNDN)));
  }
  mpfr_clear(half_pi);
  mpfr_clear(multiple);
  EXPECT_GT(nearest, 0x1p-30);
}

TEST(ElementaryTrig, SpecialValues) {
  EXPECT_EQ(bits_of(SinFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(SinFn{}, kInf), kNaNBits);
  EXPECT_EQ(bits_of(CosFn{}, -0.0F), bits(1));
  EXPECT_EQ(bits_of(CosFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(CosFn{}, 1e-30F), bits(1));
  EXPECT_EQ(bits_of(TanFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(TanFn{}, kInf), kNaNBits);
  EXPECT_EQ(bits_of(AtanFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(AtanFn{}, kInf), bits(0x1.921fb6p+0));
  EXPECT_EQ(bits_of(AtanFn{}, -kInf), bits(-0x1.921fb6p+0));
  EXPECT_EQ(bits_of(AsinFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(AsinFn{}, 1.0F), bits(0x1.921fb6p+0));
  EXPECT_EQ(bits_of(AsinFn{}, 1.0001F), kNaNBits);
  EXPECT_EQ(bits_of(AcosFn{}, 1.0F), bits(0));
  EXPECT_EQ(bits_of(AcosFn{}, -1.0F), bits(0x1.921fb6p+1));
  EXPECT_EQ(bits_of(AcosFn{}, -kInf), kNaNBits);
}

}  // namespace
}  // namespace assay::elementary_log_test
