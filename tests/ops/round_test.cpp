// Round: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::round_test {
namespace {

TEST(Round, AgainstMpfr) {
  check_function(
      {"Round", [](mpfr_t y, const mpfr_t x) { mpfr_rint(y, x, MPFR_RNDN); }, -20.0F, 20.0F});
}

TEST(Round, Literals) {
  EXPECT_EQ(at("Round", {0.5F, 1.5F, 2.5F, -2.5F, -1.4F}),
            (std::vector<float>{0.0F, 2.0F, 2.0F, -2.0F, -1.0F}));
  expect_canonical_nan(at("Round", {std::nanf("0x123")})[0]);
}

TEST(Round, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Round", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Round", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::round_test
