// Mish: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::mish_test {
namespace {

TEST(Mish, AgainstMpfr) {
  check_function({"Mish",
                  [](mpfr_t y, const mpfr_t x) {
                    mpfr_exp(y, x, MPFR_RNDN);
                    mpfr_log1p(y, y, MPFR_RNDN);
                    mpfr_tanh(y, y, MPFR_RNDN);
                    mpfr_mul(y, y, x, MPFR_RNDN);
                  },
                  -10.0F, 10.0F});
}

TEST(Mish, Literals) {
  EXPECT_EQ(at("Mish", {0.0F})[0], 0.0F);
  expect_canonical_nan(at("Mish", {std::nanf("0x123")})[0]);
}

TEST(Mish, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Mish", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Mish", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::mish_test
