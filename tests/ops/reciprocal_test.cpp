// Reciprocal: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::reciprocal_test {
namespace {

TEST(Reciprocal, AgainstMpfr) {
  check_function({"Reciprocal", [](mpfr_t y, const mpfr_t x) { mpfr_ui_div(y, 1, x, MPFR_RNDN); },
                  0.1F, 20.0F});
}

TEST(Reciprocal, Literals) {
  EXPECT_EQ(at("Reciprocal", {4.0F, -0.5F, 0.0F, -0.0F}),
            (std::vector<float>{0.25F, -2.0F, kInf, -kInf}));
  expect_canonical_nan(at("Reciprocal", {std::nanf("0x123")})[0]);
}

TEST(Reciprocal, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Reciprocal", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Reciprocal", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::reciprocal_test
