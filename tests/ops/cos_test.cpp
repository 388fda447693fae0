// Cos: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::cos_test {
namespace {

TEST(Cos, AgainstMpfr) {
  check_function(
      {"Cos", [](mpfr_t y, const mpfr_t x) { mpfr_cos(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Cos, Literals) {
  EXPECT_EQ(at("Cos", {0.0F})[0], 1.0F);
  expect_canonical_nan(at("Cos", {kInf})[0]);
  expect_canonical_nan(at("Cos", {std::nanf("0x123")})[0]);
}

TEST(Cos, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Cos", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Cos", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::cos_test
