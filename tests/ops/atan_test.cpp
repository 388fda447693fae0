// Atan: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::atan_test {
namespace {

TEST(Atan, AgainstMpfr) {
  check_function(
      {"Atan", [](mpfr_t y, const mpfr_t x) { mpfr_atan(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Atan, Literals) {
  EXPECT_EQ(at("Atan", {0.0F, kInf}), (std::vector<float>{0.0F, 1.57079637F}));
  expect_canonical_nan(at("Atan", {std::nanf("0x123")})[0]);
}

TEST(Atan, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Atan", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Atan", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::atan_test
