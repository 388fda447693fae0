// HardSigmoid: one rounding of alpha x + beta, clamped.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::hard_sigmoid_test {
namespace {

TEST(HardSigmoid, AgainstMpfr) {
  check_function({"HardSigmoid",
                  [](mpfr_t y, const mpfr_t x) {
                    mpfr_mul_d(y, x, double{0.2F}, MPFR_RNDN);
                    mpfr_add_d(y, y, 0.5, MPFR_RNDN);
                    if (mpfr_sgn(y) < 0) mpfr_set_ui(y, 0, MPFR_RNDN);
                    if (mpfr_cmp_ui(y, 1) > 0) mpfr_set_ui(y, 1, MPFR_RNDN);
                  },
                  -4.0F, 4.0F});
}

TEST(HardSigmoid, AttributesAndEnds) {
  EXPECT_EQ(at("HardSigmoid", {1.0F, 100.0F, -100.0F, kInf}, {{"alpha", 0.25F}, {"beta", 0.125F}}),
            (std::vector<float>{0.375F, 1.0F, 0.0F, 1.0F}));
}

}  // namespace
}  // namespace assay::test::hard_sigmoid_test
