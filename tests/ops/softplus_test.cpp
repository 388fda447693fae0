// Softplus: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::softplus_test {
namespace {

TEST(Softplus, AgainstMpfr) {
  check_function({"Softplus",
                  [](mpfr_t y, const mpfr_t x) {
                    mpfr_exp(y, x, MPFR_RNDN);
                    mpfr_log1p(y, y, MPFR_RNDN);
                  },
                  -15.0F, 15.0F});
}

TEST(Softplus, Literals) {
  EXPECT_EQ(at("Softplus", {-kInf, kInf, 0.0F}), (std::vector<float>{0.0F, kInf, 0.693147182F}));
  expect_canonical_nan(at("Softplus", {std::nanf("0x123")})[0]);
}

TEST(Softplus, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Softplus", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Softplus", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::softplus_test
