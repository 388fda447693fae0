// NonZero: row-major order, NaN and -0, scalars.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::non_zero_test {
namespace {

TEST(NonZero, RowMajorPlaces) {
  const Tensor y = run_one({"NonZero", {tensor({2, 2}, {1, 0, 1, 1})}});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(indices(y), (std::vector<std::int64_t>{0, 1, 1, 0, 0, 1}));
}

TEST(NonZero, NanCountsMinusZeroDoesNot) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(indices(run_one({"NonZero", {tensor({3}, {nan, -0.0F, 1e-45F})}})),
            (std::vector<std::int64_t>{0, 2}));
}

TEST(NonZero, ScalarAndNothing) {
  EXPECT_EQ(run_one({"NonZero", {tensor({}, {5})}}).shape(), (Shape{0, 1}));
  EXPECT_EQ(run_one({"NonZero", {tensor({2}, {0, 0})}}).shape(), (Shape{1, 0}));
}

}  // namespace
}  // namespace assay::test::non_zero_test
