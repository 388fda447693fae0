// Expand: broadcasting both ways, errors, empty axes.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::expand_test {
namespace {

TEST(Expand, BothWays) {
  const Tensor y = run_one({"Expand", {tensor({2, 1}, {1, 2}), ints({3}, {2, 1, 2})}});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(values(run_one({"Expand", {tensor({3}, {1, 2, 3}), ints({1}, {1})}})),
            (std::vector<float>{1, 2, 3}));
}

TEST(Expand, ToNothing) {
  EXPECT_EQ(run_one({"Expand", {tensor({1, 3}, {1, 2, 3}), ints({2}, {0, 3})}}).shape(),
            (Shape{0, 3}));
}

TEST(Expand, ShapesThatDoNotFit) {
  const auto call = [] { run_one({"Expand", {tensor({2}, {1, 2}), ints({1}, {3})}}); };
  EXPECT_NE(error_of(call).find("[3]"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::expand_test
