// Cosh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::cosh_test {
namespace {

TEST(Cosh, AgainstMpfr) {
  check_function(
      {"Cosh", [](mpfr_t y, const mpfr_t x) { mpfr_cosh(y, x, MPFR_RNDN); }, -10.0F, 10.0F});
}

TEST(Cosh, Literals) {
  EXPECT_EQ(at("Cosh", {0.0F, -kInf}), (std::vector<float>{1.0F, kInf}));
  expect_canonical_nan(at("Cosh", {std::nanf("0x123")})[0]);
}

TEST(Cosh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Cosh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Cosh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::cosh_test
