// Exp: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::exp_test {
namespace {

TEST(Exp, AgainstMpfr) {
  check_function(
      {"Exp", [](mpfr_t y, const mpfr_t x) { mpfr_exp(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Exp, Literals) {
  EXPECT_EQ(at("Exp", {0.0F, -kInf, kInf, 200.0F}), (std::vector<float>{1.0F, 0.0F, kInf, kInf}));
  expect_canonical_nan(at("Exp", {std::nanf("0x123")})[0]);
}

TEST(Exp, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Exp", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Exp", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::exp_test
