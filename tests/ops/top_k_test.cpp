// TopK: order, ties, NaN, axes, older forms, errors.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::top_k_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

std::vector<Tensor> top(Tensor x, std::int64_t k, Attributes a = {}) {
  OpCall call{"TopK", {std::move(x), ints({1}, {k})}, std::move(a)};
  call.outputs = 2;
  return run(call);
}

TEST(TopK, LargestWithTiesInOrder) {
  const auto y = top(tensor({5}, {1, 3, 3, -0.0F, 2}), 3);
  EXPECT_EQ(values(y[0]), (Floats{3, 3, 2}));
  EXPECT_EQ(indices(y[1]), (Ints{1, 2, 4}));
}

TEST(TopK, SmallestAlongTheFirstAxis) {
  const auto y = top(tensor({3, 2}, {1, 6, 2, 5, 3, 4}), 2,
                     {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}});
  EXPECT_EQ(values(y[0]), (Floats{1, 4, 2, 5}));
  EXPECT_EQ(indices(y[1]), (Ints{0, 2, 1, 1}));
}

TEST(TopK, NanIsLargestAndZerosAreEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(indices(top(tensor({4}, {-0.0F, nan, 0.0F, 1}), 4)[1]), (Ints{1, 3, 0, 2}));
}

TEST(TopK, Integers64) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(indices(top(ints({3}, {most - 1, most, -5}), 2)[0]), (Ints{most, most - 1}));
}

TEST(TopK, AttributeAtOpset1) {
  OpCall call{"TopK", {tensor({2}, {1, 2})}, {{"k", std::int64_t{1}}}, 1};
  call.outputs = 2;
  EXPECT_EQ(values(run(call)[0]), (Floats{2}));
}

TEST(TopK, NoneAndTooMany) {
  EXPECT_EQ(top(tensor({2}, {1, 2}), 0)[0].shape(), (Shape{0}));
  EXPECT_NE(error_of([] {
              top(tensor({2}, {1, 2}), 3);
            }).find("k is out of range"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::top_k_test
