// Celu: against MPFR.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::celu_test {
namespace {

TEST(Celu, AgainstMpfr) {
  for (const float alpha : {1.0F, 0.5F, 2.0F}) {
    check_function({"Celu",
                    [alpha](mpfr_t y, const mpfr_t x) {
                      mpfr_div_d(y, x, alpha, MPFR_RNDN);
                      mpfr_expm1(y, y, MPFR_RNDN);
                      mpfr_mul_d(y, y, alpha, MPFR_RNDN);
                      if (mpfr_sgn(x) >= 0) mpfr_set(y, x, MPFR_RNDN);
                    },
                    -5.0F,
                    5.0F,
                    {{"alpha", alpha}}});
  }
}

}  // namespace
}  // namespace assay::test::celu_test
