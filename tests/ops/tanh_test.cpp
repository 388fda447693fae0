// Tanh: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::tanh_test {
namespace {

TEST(Tanh, AgainstMpfr) {
  check_function(
      {"Tanh", [](mpfr_t y, const mpfr_t x) { mpfr_tanh(y, x, MPFR_RNDN); }, -6.0F, 6.0F});
}

TEST(Tanh, Literals) {
  EXPECT_EQ(at("Tanh", {0.0F, kInf, -kInf}), (std::vector<float>{0.0F, 1.0F, -1.0F}));
  expect_canonical_nan(at("Tanh", {std::nanf("0x123")})[0]);
}

TEST(Tanh, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Tanh", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Tanh", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::tanh_test
