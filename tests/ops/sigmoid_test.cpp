// Sigmoid: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::sigmoid_test {
namespace {

TEST(Sigmoid, AgainstMpfr) {
  check_function({"Sigmoid",
                  [](mpfr_t y, const mpfr_t x) {
                    mpfr_neg(y, x, MPFR_RNDN);
                    mpfr_exp(y, y, MPFR_RNDN);
                    mpfr_add_ui(y, y, 1, MPFR_RNDN);
                    mpfr_ui_div(y, 1, y, MPFR_RNDN);
                  },
                  -15.0F, 15.0F});
}

TEST(Sigmoid, Literals) {
  EXPECT_EQ(at("Sigmoid", {0.0F, kInf, -kInf}), (std::vector<float>{0.5F, 1.0F, 0.0F}));
  expect_canonical_nan(at("Sigmoid", {std::nanf("0x123")})[0]);
}

TEST(Sigmoid, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Sigmoid", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Sigmoid", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::sigmoid_test
