// Erf: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::erf_test {
namespace {

TEST(Erf, AgainstMpfr) {
  check_function({"Erf", [](mpfr_t y, const mpfr_t x) { mpfr_erf(y, x, MPFR_RNDN); }, -3.0F, 3.0F});
}

TEST(Erf, Literals) {
  EXPECT_EQ(at("Erf", {0.0F, kInf, -kInf}), (std::vector<float>{0.0F, 1.0F, -1.0F}));
  expect_canonical_nan(at("Erf", {std::nanf("0x123")})[0]);
}

TEST(Erf, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Erf", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Erf", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::erf_test
