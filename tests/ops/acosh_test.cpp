// Acosh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::acosh_test {
namespace {

TEST(Acosh, AgainstMpfr) {
  check_function(
      {"Acosh", [](mpfr_t y, const mpfr_t x) { mpfr_acosh(y, x, MPFR_RNDN); }, 1.01F, 20.0F});
}

TEST(Acosh, Literals) {
  EXPECT_EQ(at("Acosh", {1.0F, kInf}), (std::vector<float>{0.0F, kInf}));
  expect_canonical_nan(at("Acosh", {0.5F})[0]);
  expect_canonical_nan(at("Acosh", {std::nanf("0x123")})[0]);
}

TEST(Acosh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Acosh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Acosh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::acosh_test
