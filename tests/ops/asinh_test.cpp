// Asinh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::asinh_test {
namespace {

TEST(Asinh, AgainstMpfr) {
  check_function(
      {"Asinh", [](mpfr_t y, const mpfr_t x) { mpfr_asinh(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Asinh, Literals) {
  EXPECT_EQ(at("Asinh", {0.0F, kInf}), (std::vector<float>{0.0F, kInf}));
  expect_canonical_nan(at("Asinh", {std::nanf("0x123")})[0]);
}

TEST(Asinh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Asinh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Asinh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::asinh_test
