#include "runtime/numeric/float_ulp.h"

#include <gtest/gtest.h>

namespace assay::float_ulp_test {
namespace {

TEST(FloatUlp, IsTheSpacingOfTheBinade) {
  EXPECT_EQ(float_ulp(1.0), 0x1p-23);
  EXPECT_EQ(float_ulp(-1.5), 0x1p-23);
  EXPECT_EQ(float_ulp(std::nextafter(1.0, 0.0)), 0x1p-24);
  EXPECT_EQ(float_ulp(0.0), 0x1p-149);
  EXPECT_EQ(float_ulp(0x1p-126), 0x1p-149);
  EXPECT_EQ(float_ulp(0x1p-125), 0x1p-148);
  EXPECT_EQ(float_ulp(0x1.fffffep127), 0x1p104);
  EXPECT_EQ(float_ulp(INFINITY), 0x1p104);
  EXPECT_TRUE(std::isnan(float_ulp(NAN)));
}

TEST(FloatUlp, AgreesWithTheNextFloat) {
  for (const float x : {1e-40F, 3e-38F, 0.1F, 7.0F, 1e10F, 3e38F})
    EXPECT_EQ(float_ulp(static_cast<double>(x)),
              static_cast<double>(std::nextafter(x, INFINITY)) - static_cast<double>(x));
}

}  // namespace
}  // namespace assay::float_ulp_test
