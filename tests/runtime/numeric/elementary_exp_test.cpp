// The exponential family against MPFR, and its special values by hand.

#include "tests/runtime/numeric/elementary_oracle.h"

namespace assay::elementary_exp_test {
namespace {

using namespace test;

const float kInf = std::numeric_limits<float>::infinity();
const float kNan = -std::numeric_limits<float>::quiet_NaN();

// y = 1 / (1 + e^(-scale x)) at more bits than y has, so that cancellation below does not matter.
void sigmoid(mpfr_ptr y, mpfr_srcptr x, double scale) {
  mpfr_mul_d(y, x, -scale, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

void elu(mpfr_ptr y, mpfr_srcptr x, double alpha, double inner, double outer) {
  if (mpfr_sgn(x) >= 0) {
    mpfr_mul_d(y, x, outer, MPFR_RNDN);
    return;
  }
  mpfr_div_d(y, x, inner, MPFR_RNDN);
  mpfr_expm1(y, y, MPFR_RNDN);
  mpfr_mul_d(y, y, alpha, MPFR_RNDN);
  mpfr_mul_d(y, y, outer, MPFR_RNDN);
}

TEST(ElementaryExp, Exp) {
  check_all(ExpFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_exp(y, x, MPFR_RNDN); });
}
TEST(ElementaryExp, Sigmoid) {
  check_all(SigmoidFn{}, [](mpfr_ptr y, mpfr_srcptr x) { sigmoid(y, x, 1); });
}
TEST(ElementaryExp, Tanh) {
  check_all(TanhFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_tanh(y, x, MPFR_RNDN); });
}
TEST(ElementaryExp, Sinh) {
  check_all(SinhFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_sinh(y, x, MPFR_RNDN); });
}
TEST(ElementaryExp, Cosh) {
  check_all(CoshFn{}, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_cosh(y, x, MPFR_RNDN); });
}
TEST(ElementaryExp, Softplus) {
  check_all(SoftplusFn{}, [](mpfr_ptr y, mpfr_srcptr x) {
    if (mpfr_cmp_ui(x, 1000) > 0) {  // e^x is far above MPFR's working exponents later on
      mpfr_set(y, x, MPFR_RNDN);
      mpfr_nextabove(y);
      return;
    }
    mpfr_exp(y, x, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
  });
}
TEST(ElementaryExp, Swish) {
  for (const float alpha : {1.0F, 1.702F, -0.3F}) {
    check_all(SwishFn{alpha}, [alpha](mpfr_ptr y, mpfr_srcptr x) {
      sigmoid(y, x, alpha);
      mpfr_mul(y, y, x, MPFR_RNDN);
    });
  }
}
TEST(ElementaryExp, Mish) {
  check_all(MishFn{}, [](mpfr_ptr y, mpfr_srcptr x) {
    if (mpfr_cmp_ui(x, 1000) > 0) {
      mpfr_set(y, x, MPFR_RNDN);
      mpfr_nextbelow(y);
      return;
    }
    mpfr_exp(y, x, MPFR_RNDN);
    mpfr_log1p(y, y, MPFR_RNDN);
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
  });
}
TEST(ElementaryExp, Elus) {
  for (const float alpha : {1.0F, 0.7F, 3e-3F}) {
    check_all(EluFn{alpha}, [&](mpfr_ptr y, mpfr_srcptr x) { elu(y, x, alpha, 1, 1); });
    check_all(CeluFn{alpha}, [&](mpfr_ptr y, mpfr_srcptr x) { elu(y, x, alpha, alpha, 1); });
  }
  // A negative alpha turns the left branch into a growing exponential.
  check_all(
      CeluFn{-0.7F}, [](mpfr_ptr y, mpfr_srcptr x) { elu(y, x, -0.7F, -0.7F, 1); }, -1000, 1000);
  const SeluFn selu;
  check_all(selu, [&](mpfr_ptr y, mpfr_srcptr x) { elu(y, x, selu.alpha, 1, selu.gamma); });
}

TEST(ElementaryExp, ExpEdges) {
  EXPECT_EQ(bits_of(ExpFn{}, 0.0F), bits(1));
  EXPECT_EQ(bits_of(ExpFn{}, -0.0F), bits(1));
  EXPECT_EQ(bits_of(ExpFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(ExpFn{}, -kInf), bits(0));
  EXPECT_EQ(bits_of(ExpFn{}, kNan), kNaNBits);
  // log(2^128 - 2^103) = 88.72283905...: the largest argument without overflow is 0x1.62e42ep+6.
  EXPECT_LT(cr(ExpFn{}, 0x1.62e42ep+6F), kInf);
  EXPECT_EQ(cr(ExpFn{}, 0x1.62e430p+6F), kInf);
  // log(2^-150) = -103.9720770...: below it the result is 0, above it 2^-149.
  EXPECT_EQ(cr(ExpFn{}, -103.97209F), 0.0F);
  EXPECT_EQ(cr(ExpFn{}, -103.97207F), 0x1p-149F);
  EXPECT_EQ(cr(ExpFn{}, 1e300), infinity());
  EXPECT_EQ(cr(ExpFn{}, -1e300), 0.0);
  EXPECT_EQ(evaluate(ExpFn{}, 1e300), infinity());
  EXPECT_EQ(evaluate(ExpFn{}, -745.0), 0x1p-1074);
}

TEST(ElementaryExp, SpecialValues) {
  EXPECT_EQ(bits_of(SigmoidFn{}, kInf), bits(1));
  EXPECT_EQ(bits_of(SigmoidFn{}, -kInf), bits(0));
  EXPECT_EQ(bits_of(SigmoidFn{}, kNan), kNaNBits);
  EXPECT_EQ(bits_of(TanhFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(TanhFn{}, -kInf), bits(-1));
  EXPECT_EQ(bits_of(TanhFn{}, kNan), kNaNBits);
  EXPECT_EQ(bits_of(SinhFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(SinhFn{}, -kInf), bits(-kInf));
  EXPECT_EQ(bits_of(CoshFn{}, -kInf), bits(kInf));
  EXPECT_EQ(bits_of(SoftplusFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(SoftplusFn{}, -kInf), bits(0));
  EXPECT_EQ(bits_of(SoftplusFn{}, kNan), kNaNBits);
  EXPECT_EQ(bits_of(SwishFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(SwishFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(SwishFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(SwishFn{}, -3e38F), bits(-0.0));
  EXPECT_EQ(bits_of(MishFn{}, -kInf), kNaNBits);
  EXPECT_EQ(bits_of(MishFn{}, kInf), bits(kInf));
  EXPECT_EQ(bits_of(MishFn{}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(EluFn{0.5F}, -kInf), bits(-0.5));
  EXPECT_EQ(bits_of(EluFn{0.5F}, -0.0F), bits(-0.0));
  EXPECT_EQ(bits_of(EluFn{0.5F}, kNan), kNaNBits);
  EXPECT_EQ(bits_of(CeluFn{0.5F}, -kInf), bits(-0.5));
  EXPECT_EQ(bits_of(SeluFn{1.5F, 2.0F}, -kInf), bits(-3));
  EXPECT_EQ(bits_of(SeluFn{1.5F, 2.0F}, kInf), bits(kInf));
}

// gamma x has up to 48 bits and ties occur: with gamma = 1 + 2^-23, x = 1 + 2^-1: 1.5 + 2^-23 +
// 2^-24.
TEST(ElementaryExp, SeluTie) {
  EXPECT_EQ(cr(SeluFn{1.0F, 1.0F + 0x1p-23F}, 1.5F), 1.5F + 0x1p-22F);
  EXPECT_EQ(cr(SeluFn{1.0F, 1.0F + 0x1p-23F}, 0.5F + 0x1p-24F + 0.5F), 1.0F + 0x1p-23F);
}

TEST(ElementaryExp, ArraysMayOverlapAndHaveAnyLength) {
  for (std::size_t n : {0U, 1U, 63U, 64U, 65U, 200U}) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i) * 0.37F - 20;
    std::vector<float> y = x;
    cr(TanhFn{}, std::span<const float>(y), std::span<float>(y));
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], cr(TanhFn{}, x[i]));
  }
}

}  // namespace
}  // namespace assay::elementary_exp_test
