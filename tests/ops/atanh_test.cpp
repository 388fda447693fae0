// Atanh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::atanh_test {
namespace {

TEST(Atanh, AgainstMpfr) {
  check_function(
      {"Atanh", [](mpfr_t y, const mpfr_t x) { mpfr_atanh(y, x, MPFR_RNDN); }, -0.99F, 0.99F});
}

TEST(Atanh, Literals) {
  EXPECT_EQ(at("Atanh", {0.0F, 1.0F, -1.0F}), (std::vector<float>{0.0F, kInf, -kInf}));
  expect_canonical_nan(at("Atanh", {1.5F})[0]);
  expect_canonical_nan(at("Atanh", {std::nanf("0x123")})[0]);
}

TEST(Atanh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Atanh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Atanh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::atanh_test
