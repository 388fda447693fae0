// Log: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::log_test {
namespace {

TEST(Log, AgainstMpfr) {
  check_function(
      {"Log", [](mpfr_t y, const mpfr_t x) { mpfr_log(y, x, MPFR_RNDN); }, 0.001F, 50.0F});
}

TEST(Log, Literals) {
  EXPECT_EQ(at("Log", {1.0F, 0.0F, -0.0F, kInf}), (std::vector<float>{0.0F, -kInf, -kInf, kInf}));
  expect_canonical_nan(at("Log", {-1.0F})[0]);
  expect_canonical_nan(at("Log", {std::nanf("0x123")})[0]);
}

TEST(Log, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Log", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Log", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::log_test
