// Elu: against MPFR for several alphas.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::elu_test {
namespace {

TEST(Elu, AgainstMpfr) {
  for (const float alpha : {1.0F, 0.3F, 2.0F}) {
    check_function({"Elu",
                    [alpha](mpfr_t y, const mpfr_t x) {
                      mpfr_expm1(y, x, MPFR_RNDN);
                      mpfr_mul_d(y, y, alpha, MPFR_RNDN);
                      if (mpfr_sgn(x) >= 0) mpfr_set(y, x, MPFR_RNDN);
                    },
                    -5.0F,
                    5.0F,
                    {{"alpha", alpha}}});
  }
}

TEST(Elu, DefaultAlphaIsOne) {
  EXPECT_EQ(at("Elu", {2.0F, -kInf}), (std::vector<float>{2.0F, -1.0F}));
}

}  // namespace
}  // namespace assay::test::elu_test
