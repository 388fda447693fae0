// LeakyRelu: the product rounded once, sign and default of alpha.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::leaky_relu_test {
namespace {

TEST(LeakyRelu, AgainstMpfr) {
  for (const float alpha : {0.01F, 0.3F, -0.7F, 1.9F}) {
    check_function({"LeakyRelu",
                    [alpha](mpfr_t y, const mpfr_t x) {
                      mpfr_set(y, x, MPFR_RNDN);
                      if (mpfr_sgn(x) < 0) mpfr_mul_d(y, x, alpha, MPFR_RNDN);
                    },
                    -5.0F,
                    5.0F,
                    {{"alpha", alpha}}});
  }
}

TEST(LeakyRelu, DefaultAlpha) {
  EXPECT_EQ(at("LeakyRelu", {-100.0F, 3.0F}), (std::vector<float>{-100.0F * 0.01F, 3.0F}));
}

}  // namespace
}  // namespace assay::test::leaky_relu_test
