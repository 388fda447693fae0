// Ceil: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::ceil_test {
namespace {

TEST(Ceil, AgainstMpfr) {
  check_function({"Ceil", [](mpfr_t y, const mpfr_t x) { mpfr_ceil(y, x); }, -20.0F, 20.0F});
}

TEST(Ceil, Literals) {
  EXPECT_EQ(at("Ceil", {-1.5F, 1.5F, 2.0F}), (std::vector<float>{-1.0F, 2.0F, 2.0F}));
  EXPECT_EQ(bits(at("Ceil", {-0.5F})[0]), 0x80000000U);
  expect_canonical_nan(at("Ceil", {std::nanf("0x123")})[0]);
}

TEST(Ceil, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Ceil", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Ceil", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::ceil_test
