// Softmax, LogSoftmax, Hardmax: both axis rules, special rows, MPFR.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::softmax_test {
namespace {

using Floats = std::vector<float>;
const std::int64_t one = 1;

TEST(Softmax, EqualLogitsShareEvenly) {
  EXPECT_EQ(values(run_one({"Softmax", {tensor({2, 2}, {7, 7, -1, -1})}})),
            (Floats{0.5F, 0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(values(run_one({"LogSoftmax", {tensor({1}, {3})}})), (Floats{0}));
  EXPECT_EQ(values(run_one({"Hardmax", {tensor({4}, {1, 3, 3, 2})}})), (Floats{0, 1, 0, 0}));
}

TEST(Softmax, AxisRulesOfBothOpsets) {
  const Tensor x = tensor({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(values(run_one({"Softmax", {x}, {}, 11})), Floats(4, 0.25F));  // everything from axis 1
  EXPECT_EQ(values(run_one({"Softmax", {x}, {{"axis", one}}, 13})),
            Floats(4, 0.5F));  // axis 1 alone
}

TEST(Softmax, AgainstMpfr) {
  const Tensor x = random_tensor({40, 11}, -8, 8, 31);
  const Tensor y = run_one({"Softmax", {x}}), z = run_one({"LogSoftmax", {x}});
  mpfr_t sum, e;
  mpfr_inits2(300, sum, e, nullptr);
  for (std::size_t i = 0; i < 440; ++i) {
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (std::size_t k = i / 11 * 11; k < i / 11 * 11 + 11; ++k) {
      mpfr_set_d(e, x.data<float>()[k], MPFR_RNDN);
      mpfr_exp(e, e, MPFR_RNDN);
      mpfr_add(sum, sum, e, MPFR_RNDN);
    }
    mpfr_set_d(e, x.data<float>()[i], MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_div(e, e, sum, MPFR_RNDN);
    ASSERT_EQ(y.data<float>()[i], mpfr_get_flt(e, MPFR_RNDN)) << i;
    mpfr_log(e, e, MPFR_RNDN);
    ASSERT_EQ(z.data<float>()[i], mpfr_get_flt(e, MPFR_RNDN)) << i;
  }
  mpfr_clears(sum, e, nullptr);
}

TEST(Softmax, SpecialRowsAreNaN) {
  for (const float special : {kInf, std::nanf("")}) {
    for (const float v : values(run_one({"Softmax", {tensor({2}, {0, special})}})))
      expect_canonical_nan(v);
  }
  const auto cut = values(run_one({"Softmax", {tensor({2}, {0, -kInf})}}));
  EXPECT_EQ(cut, (Floats{1, 0}));
}

TEST(Softmax, EveryPrecisionAndRadius) {
  const Tensor x = random_tensor({30, 20}, -8, 8, 32);
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    const double use = radius_use({type, {x}});
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 1.0 / 200) << type;
  }
}

TEST(Softmax, EmptyRowsAndWrongAxis) {
  EXPECT_EQ(run_one({"Softmax", {tensor({2, 0}, {})}}).shape(), (Shape{2, 0}));
  const auto call = [] {
    run_one({"Softmax", {tensor({2}, {1, 2})}, {{"axis", std::int64_t{3}}}});
  };
  EXPECT_NE(error_of(call).find("axis"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::softmax_test
