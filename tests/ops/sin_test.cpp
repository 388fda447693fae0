// Sin: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::sin_test {
namespace {

TEST(Sin, AgainstMpfr) {
  check_function(
      {"Sin", [](mpfr_t y, const mpfr_t x) { mpfr_sin(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Sin, Literals) {
  EXPECT_EQ(at("Sin", {0.0F})[0], 0.0F);
  expect_canonical_nan(at("Sin", {kInf})[0]);
  expect_canonical_nan(at("Sin", {std::nanf("0x123")})[0]);
}

TEST(Sin, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Sin", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Sin", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::sin_test
