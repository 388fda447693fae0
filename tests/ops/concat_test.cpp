// Concat: axes, tensors without elements (public case S-34), errors, opset 1.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::concat_test {
namespace {

const Attributes axis0{{"axis", std::int64_t{0}}};

TEST(Concat, InnerAxis) {
  const Tensor a = tensor({2, 1}, {1, 2}), b = tensor({2, 2}, {3, 4, 5, 6});
  const Tensor y = run_one({"Concat", {a, b}, {{"axis", std::int64_t{-1}}}});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 3, 4, 2, 5, 6}));
}

TEST(Concat, NothingBesideTwoElements) {
  const Tensor y = run_one({"Concat", {tensor({0}, {}), tensor({2}, {1, 2})}, axis0});
  EXPECT_EQ(y.shape(), (Shape{2}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 2}));
}

TEST(Concat, DefaultAxisAtOpset1) {
  const Tensor a = tensor({1, 1}, {1}), b = tensor({1, 1}, {2});
  EXPECT_EQ(run_one({"Concat", {a, b}, {}, 1}).shape(), (Shape{1, 2}));
  EXPECT_NE(error_of([&] { run_one({"Concat", {a, b}, {}, 13}); }).find("axis"), std::string::npos);
}

TEST(Concat, DifferentSizesRanksTypes) {
  const auto error = [](Tensor b) {
    return error_of([&] { run_one({"Concat", {tensor({1, 2}, {1, 2}), b}, axis0}); });
  };
  EXPECT_NE(error(tensor({1, 3}, {1, 2, 3})).find("beside the axis"), std::string::npos);
  EXPECT_NE(error(tensor({2}, {1, 2})).find("rank"), std::string::npos);
  EXPECT_NE(error(tensor64({1, 2}, {1, 2})).find("type"), std::string::npos);
}

TEST(Concat, MovesRadiiOfAllInputs) {
  const Tensor radius = radius_of({"Concat", {tensor({1}, {1}), tensor({1}, {2})}, axis0},
                                  {Tensor(), tensor64({1}, {0.5})});
  EXPECT_EQ(to_doubles(radius), (std::vector<double>{0, 0.5}));
}

}  // namespace
}  // namespace assay::test::concat_test
