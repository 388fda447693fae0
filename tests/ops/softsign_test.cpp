// Softsign: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::softsign_test {
namespace {

TEST(Softsign, AgainstMpfr) {
  check_function({"Softsign",
                  [](mpfr_t y, const mpfr_t x) {
                    mpfr_abs(y, x, MPFR_RNDN);
                    mpfr_add_ui(y, y, 1, MPFR_RNDN);
                    mpfr_div(y, x, y, MPFR_RNDN);
                  },
                  -15.0F, 15.0F});
}

TEST(Softsign, Literals) {
  EXPECT_EQ(at("Softsign", {1.0F, -3.0F, 0.0F}), (std::vector<float>{0.5F, -0.75F, 0.0F}));
  expect_canonical_nan(at("Softsign", {std::nanf("0x123")})[0]);
}

TEST(Softsign, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Softsign", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Softsign", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::softsign_test
