// Selu: against MPFR, and the defaults of both opsets.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::selu_test {
namespace {

TEST(Selu, AgainstMpfr) {
  check_function({"Selu",
                  [](mpfr_t y, const mpfr_t x) {
                    if (mpfr_sgn(x) > 0) {
                      mpfr_set(y, x, MPFR_RNDN);
                    } else {
                      mpfr_expm1(y, x, MPFR_RNDN);
                      mpfr_mul_d(y, y, 1.67326319217681884765625, MPFR_RNDN);
                    }
                    mpfr_mul_d(y, y, 1.05070102214813232421875, MPFR_RNDN);
                  },
                  -5.0F, 5.0F});
}

TEST(Selu, OpsetOneHasShorterDefaults) {
  EXPECT_EQ(at("Selu", {1.0F}, {}, 1)[0], 1.0507F);
  EXPECT_EQ(at("Selu", {1.0F}, {}, 6)[0], 1.05070102214813232421875F);
}

}  // namespace
}  // namespace assay::test::selu_test
