// Sqrt: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::sqrt_test {
namespace {

TEST(Sqrt, AgainstMpfr) {
  check_function(
      {"Sqrt", [](mpfr_t y, const mpfr_t x) { mpfr_sqrt(y, x, MPFR_RNDN); }, 0.0F, 50.0F});
}

TEST(Sqrt, Literals) {
  EXPECT_EQ(at("Sqrt", {4.0F, 2.25F, kInf}), (std::vector<float>{2.0F, 1.5F, kInf}));
  EXPECT_EQ(bits(at("Sqrt", {-0.0F})[0]), 0x80000000U);
  expect_canonical_nan(at("Sqrt", {-1.0F})[0]);
  expect_canonical_nan(at("Sqrt", {std::nanf("0x123")})[0]);
}

TEST(Sqrt, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Sqrt", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Sqrt", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::sqrt_test
