// Sinh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::sinh_test {
namespace {

TEST(Sinh, AgainstMpfr) {
  check_function(
      {"Sinh", [](mpfr_t y, const mpfr_t x) { mpfr_sinh(y, x, MPFR_RNDN); }, -10.0F, 10.0F});
}

TEST(Sinh, Literals) {
  EXPECT_EQ(at("Sinh", {0.0F, kInf, -kInf}), (std::vector<float>{0.0F, kInf, -kInf}));
  expect_canonical_nan(at("Sinh", {std::nanf("0x123")})[0]);
}

TEST(Sinh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Sinh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Sinh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::sinh_test
