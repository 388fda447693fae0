// Gather: axes, negative and out-of-range indices, scalar indices, empty indices.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::gather_test {
namespace {

const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Gather, Rows) {
  const Tensor y = run_one({"Gather", {x, ints({2}, {1, 0})}});
  EXPECT_EQ(values(y), (std::vector<float>{4, 5, 6, 1, 2, 3}));
}

TEST(Gather, ColumnsWithNegativeIndices) {
  const Tensor y = run_one({"Gather", {x, ints({1, 2}, {-1, 0})}, {{"axis", std::int64_t{1}}}});
  EXPECT_EQ(y.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(values(y), (std::vector<float>{3, 1, 6, 4}));
}

TEST(Gather, ScalarIndexTakesTheAxisOut) {
  EXPECT_EQ(run_one({"Gather", {x, ints({}, {1})}}).shape(), (Shape{3}));
}

TEST(Gather, NoIndices) {
  EXPECT_EQ(run_one({"Gather", {x, ints({0}, {})}}).shape(), (Shape{0, 3}));
}

TEST(Gather, OutOfRange) {
  for (const std::int64_t i : {2, -3}) {
    const auto call = [&] { run_one({"Gather", {x, ints({1}, {i})}}); };
    EXPECT_NE(error_of(call).find(std::to_string(i)), std::string::npos);
  }
}

TEST(Gather, MovesRadii) {
  const Tensor radius = radius_of({"Gather", {tensor({2}, {1, 2}), ints({3}, {1, 1, 0})}},
                                  {tensor64({2}, {0.25, 0.5})});
  EXPECT_EQ(to_doubles(radius), (std::vector<double>{0.5, 0.5, 0.25}));
}

}  // namespace
}  // namespace assay::test::gather_test
