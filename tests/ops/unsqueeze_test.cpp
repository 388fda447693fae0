// Unsqueeze: attribute and input forms, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::unsqueeze_test {
namespace {

using Ints = std::vector<std::int64_t>;

Shape shape_of(const OpCall& call) { return run_one(call).shape(); }

TEST(Unsqueeze, PlacesInTheOutput) {
  const Tensor v = Tensor::zeros(DType::float32, {3});
  EXPECT_EQ(shape_of({"Unsqueeze", {v, ints({2}, {0, -1})}}), (Shape{1, 3, 1}));
  EXPECT_EQ(shape_of({"Unsqueeze", {v, ints({2}, {2, 0})}}), (Shape{1, 3, 1}));
  EXPECT_EQ(shape_of({"Unsqueeze", {v}, {{"axes", Ints{1}}}, 11}), (Shape{3, 1}));
}

TEST(Unsqueeze, AxesOutOfRangeOrTwice) {
  const Tensor v = Tensor::zeros(DType::float32, {3});
  EXPECT_NE(error_of([&] { run_one({"Unsqueeze", {v, ints({1}, {3})}}); }).size(), 0U);
  EXPECT_NE(error_of([&] {
              run_one({"Unsqueeze", {v, ints({2}, {0, -3})}});
            }).find("twice"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::unsqueeze_test
