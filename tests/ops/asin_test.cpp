// Asin: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::asin_test {
namespace {

TEST(Asin, AgainstMpfr) {
  check_function(
      {"Asin", [](mpfr_t y, const mpfr_t x) { mpfr_asin(y, x, MPFR_RNDN); }, -0.99F, 0.99F});
}

TEST(Asin, Literals) {
  EXPECT_EQ(at("Asin", {0.0F, 1.0F}), (std::vector<float>{0.0F, 1.57079637F}));
  expect_canonical_nan(at("Asin", {1.5F})[0]);
  expect_canonical_nan(at("Asin", {std::nanf("0x123")})[0]);
}

TEST(Asin, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Asin", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Asin", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::asin_test
