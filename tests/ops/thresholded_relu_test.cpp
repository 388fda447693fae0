// ThresholdedRelu: the jump at alpha.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::thresholded_relu_test {
namespace {

TEST(ThresholdedRelu, Literals) {
  EXPECT_EQ(at("ThresholdedRelu", {0.5F, 1.0F, 1.5F, -2.0F}),
            (std::vector<float>{0.0F, 0.0F, 1.5F, 0.0F}));
  EXPECT_EQ(at("ThresholdedRelu", {0.5F, 1.0F}, {{"alpha", 0.25F}}),
            (std::vector<float>{0.5F, 1.0F}));
}

TEST(ThresholdedRelu, RadiusCoversTheJump) {
  check_function({"ThresholdedRelu",
                  [](mpfr_t y, const mpfr_t x) {
                    if (mpfr_cmp_ui(x, 1) > 0)
                      mpfr_set(y, x, MPFR_RNDN);
                    else
                      mpfr_set_ui(y, 0, MPFR_RNDN);
                  },
                  -3.0F, 3.0F});
}

}  // namespace
}  // namespace assay::test::thresholded_relu_test
