// Acos: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::acos_test {
namespace {

TEST(Acos, AgainstMpfr) {
  check_function(
      {"Acos", [](mpfr_t y, const mpfr_t x) { mpfr_acos(y, x, MPFR_RNDN); }, -0.99F, 0.99F});
}

TEST(Acos, Literals) {
  EXPECT_EQ(at("Acos", {1.0F, -1.0F}), (std::vector<float>{0.0F, 3.14159274F}));
  expect_canonical_nan(at("Acos", {1.5F})[0]);
  expect_canonical_nan(at("Acos", {std::nanf("0x123")})[0]);
}

TEST(Acos, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Acos", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Acos", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::acos_test
