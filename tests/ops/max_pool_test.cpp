// MaxPool and GlobalMaxPool: padding (public case S-07 a), ceil_mode, dilation, indices, NaN,
// integers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::max_pool_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(MaxPool, PaddingDoesNotTakePart) {
  const Tensor x = tensor({1, 1, 2, 2}, {-1, -1, -1, -1});
  const Attributes a{
      {"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  EXPECT_EQ(values(run_one({"MaxPool", {x}, a})), (Floats{-1, -1, -1, -1}));
}

TEST(MaxPool, StridesDilationAndCeilMode) {
  const Tensor x = tensor({1, 1, 6}, {1, 5, 2, 4, 3, 6});
  EXPECT_EQ(values(run_one({"MaxPool", {x}, {{"kernel_shape", Ints{3}}, {"dilations", Ints{2}}}})),
            (Floats{3, 6}));
  const Attributes floor{{"kernel_shape", Ints{3}}, {"strides", Ints{2}}};
  EXPECT_EQ(values(run_one({"MaxPool", {x}, floor})), (Floats{5, 4}));
  Attributes ceil = floor;
  ceil.set("ceil_mode", std::int64_t{1});
  EXPECT_EQ(values(run_one({"MaxPool", {x}, ceil})), (Floats{5, 4, 6}));
}

// 3 inputs, kernel 2, stride 2, padding 1 at each end, ceil: the third window would start in the
// end padding.
TEST(MaxPool, CeilModeLeavesOutWindowsThatStartInThePadding) {
  const Tensor x = tensor({1, 1, 2}, {1, 2});
  const Attributes a{{"kernel_shape", Ints{2}},
                     {"strides", Ints{3}},
                     {"pads", Ints{1, 1}},
                     {"ceil_mode", std::int64_t{1}}};
  EXPECT_EQ(values(run_one({"MaxPool", {x}, a})), (Floats{1}));
}

TEST(MaxPool, IndicesRowAndColumnMajor) {
  const Tensor x = tensor({1, 2, 2, 3}, {1, 9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  OpCall call{"MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}}};
  call.outputs = 2;
  auto out = run(call);
  EXPECT_EQ(values(out[0]), (Floats{9, 9, 10, 11}));
  EXPECT_EQ(indices(out[1]), (Ints{1, 1, 10, 11}));
  call.attributes.set("storage_order", Ints::value_type{1});
  EXPECT_EQ(indices(run(call)[1]), (Ints{2, 2, 9, 11}));
}

TEST(MaxPool, SameUpperAndLower) {
  const Tensor x = tensor({1, 1, 3}, {1, 2, 3});
  Attributes a{{"kernel_shape", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}};
  EXPECT_EQ(values(run_one({"MaxPool", {x}, a})), (Floats{2, 3, 3}));
  a.set("auto_pad", std::string("SAME_LOWER"));
  EXPECT_EQ(values(run_one({"MaxPool", {x}, a})), (Floats{1, 2, 3}));
}

TEST(MaxPool, NaNWinsAndIntegersWork) {
  const Tensor x = tensor({1, 1, 3}, {1, std::nanf(""), 3});
  const auto y = values(run_one({"MaxPool", {x}, {{"kernel_shape", Ints{2}}}}));
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  const Tensor codes = Tensor::of<std::uint8_t>({1, 1, 3}, {7, 200, 3});
  EXPECT_EQ(indices(run_one({"MaxPool", {codes}, {{"kernel_shape", Ints{2}}}})), (Ints{200, 200}));
}

TEST(MaxPool, ThreeDimensionsAgainstALoop) {
  const Tensor x = random_tensor({2, 3, 4, 5, 6}, -1, 1, 4);
  const Tensor y =
      run_one({"MaxPool", {x}, {{"kernel_shape", Ints{2, 3, 2}}, {"strides", Ints{1, 2, 3}}}});
  ASSERT_EQ(y.shape(), (Shape{2, 3, 3, 2, 2}));
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const std::int64_t w = i % 2 * 3, h = i / 2 % 2 * 2, d = i / 4 % 3, row = i / 12;
    float best = -2;
    for (std::int64_t k = 0; k < 12; ++k) {
      const std::int64_t at = ((row * 4 + d + k / 6) * 5 + h + k / 2 % 3) * 6 + w + k % 2;
      best = std::max(best, x.data<float>()[static_cast<std::size_t>(at)]);
    }
    ASSERT_EQ(y.data<float>()[static_cast<std::size_t>(i)], best);
  }
}

TEST(MaxPool, MissingKernelIsAnError) {
  const auto call = [] { run_one({"MaxPool", {tensor({1, 1, 3}, {1, 2, 3})}}); };
  EXPECT_NE(error_of(call).find("kernel_shape"), std::string::npos);
}

TEST(GlobalMaxPool, LargestOfEachImage) {
  const Tensor x = tensor({1, 2, 1, 2}, {1, -2, -5, -4});
  const Tensor y = run_one({"GlobalMaxPool", {x}});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(values(y), (Floats{1, -4}));
  const float none = values(run_one({"GlobalMaxPool", {tensor({1, 1, 0}, {})}}))[0];
  EXPECT_EQ(none, -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace assay::test::max_pool_test
