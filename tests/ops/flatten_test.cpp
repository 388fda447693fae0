// Flatten: every axis, the ends included.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::flatten_test {
namespace {

TEST(Flatten, EveryAxis) {
  const Tensor x = random_tensor({2, 3, 4}, -1, 1, 1);
  const auto shape = [&](std::int64_t axis) {
    return run_one({"Flatten", {x}, {{"axis", axis}}}).shape();
  };
  EXPECT_EQ(shape(0), (Shape{1, 24}));
  EXPECT_EQ(shape(1), (Shape{2, 12}));
  EXPECT_EQ(shape(3), (Shape{24, 1}));
  EXPECT_EQ(shape(-1), (Shape{6, 4}));
  EXPECT_EQ(run_one({"Flatten", {x}}).shape(), (Shape{2, 12}));
  EXPECT_TRUE(same_bits(run_one({"Flatten", {x}}).reshaped({2, 3, 4}), x));
}

TEST(Flatten, AxisOutsideIsAnError) {
  const auto call = [] {
    run_one({"Flatten", {tensor({2}, {1, 2})}, {{"axis", std::int64_t{2}}}});
  };
  EXPECT_NE(error_of(call).find("'axis' is out of range"), std::string::npos);
}

TEST(Flatten, EmptyTensor) {
  EXPECT_EQ(run_one({"Flatten", {tensor({2, 0, 3}, {})}}).shape(), (Shape{2, 0}));
}

}  // namespace
}  // namespace assay::test::flatten_test
