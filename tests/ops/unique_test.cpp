// Unique: sorted and in order of appearance, slices along an axis, NaN.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::unique_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

std::vector<Tensor> unique(Tensor x, Attributes a = {}) {
  OpCall call{"Unique", {std::move(x)}, std::move(a)};
  call.outputs = 4;
  return run(call);
}

TEST(Unique, Sorted) {
  const auto y = unique(tensor({6}, {2, 1, 1, 3, 4, 3}));
  EXPECT_EQ(values(y[0]), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(indices(y[1]), (Ints{1, 0, 3, 4}));
  EXPECT_EQ(indices(y[2]), (Ints{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(indices(y[3]), (Ints{2, 1, 2, 1}));
}

TEST(Unique, InOrderOfAppearance) {
  const auto y = unique(tensor({6}, {2, 1, 1, 3, 4, 3}), {{"sorted", std::int64_t{0}}});
  EXPECT_EQ(values(y[0]), (Floats{2, 1, 3, 4}));
  EXPECT_EQ(indices(y[1]), (Ints{0, 1, 3, 4}));
  EXPECT_EQ(indices(y[2]), (Ints{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(indices(y[3]), (Ints{1, 2, 2, 1}));
}

TEST(Unique, ColumnsOfAMatrix) {
  const auto y = unique(tensor({2, 3}, {1, 0, 1, 2, 3, 2}), {{"axis", std::int64_t{1}}});
  EXPECT_EQ(y[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(values(y[0]), (Floats{0, 1, 3, 2}));
  EXPECT_EQ(indices(y[2]), (Ints{1, 0, 1}));
}

TEST(Unique, NanAndNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(indices(unique(tensor({3}, {nan, 1, nan}))[3]), (Ints{1, 2}));
  EXPECT_EQ(unique(tensor({0}, {}))[0].shape(), (Shape{0}));
}

}  // namespace
}  // namespace assay::test::unique_test
