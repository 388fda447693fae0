// HardSwish: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::hard_swish_test {
namespace {

TEST(HardSwish, AgainstMpfr) {
  check_function({"HardSwish",
                  [](mpfr_t y, const mpfr_t x) {
                    if (mpfr_cmp_si(x, -3) <= 0) {
                      mpfr_set_zero(y, -1);  // x times +0
                    } else if (mpfr_cmp_si(x, 3) >= 0) {
                      mpfr_set(y, x, MPFR_RNDN);
                    } else {
                      mpfr_add_ui(y, x, 3, MPFR_RNDN);
                      mpfr_mul(y, y, x, MPFR_RNDN);
                      mpfr_div_ui(y, y, 6, MPFR_RNDN);
                    }
                  },
                  -5.0F, 5.0F});
}

TEST(HardSwish, Literals) {
  EXPECT_EQ(at("HardSwish", {3.0F, 6.0F, 1.5F, -1.5F}),
            (std::vector<float>{3.0F, 6.0F, 1.125F, -0.375F}));
  expect_canonical_nan(at("HardSwish", {std::nanf("0x123")})[0]);
}

TEST(HardSwish, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"HardSwish", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"HardSwish", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::hard_swish_test
