// OneHot: axes, negative and out-of-range indices.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::one_hot_test {
namespace {

TEST(OneHot, LastAndFirstAxis) {
  const Tensor at = ints({2}, {0, -1}), values3 = tensor({2}, {0, 5});
  const Tensor y = run_one({"OneHot", {at, ints({}, {3}), values3}});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(values(y), (std::vector<float>{5, 0, 0, 0, 0, 5}));
  const Tensor z = run_one({"OneHot", {at, ints({}, {3}), values3}, {{"axis", std::int64_t{0}}}});
  EXPECT_EQ(z.shape(), (Shape{3, 2}));
  EXPECT_EQ(values(z), (std::vector<float>{5, 0, 0, 0, 0, 5}));
}

TEST(OneHot, OutOfRangeIsOffEverywhere) {
  EXPECT_EQ(values(run_one({"OneHot", {ints({2}, {2, -3}), ints({}, {2}), tensor({2}, {1, 9})}})),
            (std::vector<float>{1, 1, 1, 1}));
}

TEST(OneHot, FloatIndicesAreTruncated) {
  EXPECT_EQ(
      values(run_one({"OneHot", {tensor({1}, {0.9F}), tensor({}, {2.9F}), tensor({2}, {0, 1})}})),
      (std::vector<float>{1, 0}));
}

TEST(OneHot, BadDepth) {
  const auto call = [] {
    run_one({"OneHot", {ints({1}, {0}), ints({}, {-1}), tensor({2}, {0, 1})}});
  };
  EXPECT_NE(error_of(call).find("depth"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::one_hot_test
