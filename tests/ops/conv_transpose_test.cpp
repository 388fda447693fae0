// ConvTranspose: literals (public case S-02), output sizes, groups, exact oracle, radius.
#include <gtest/gtest.h>

#include "runtime/numeric/exact_accumulator.h"
#include "tests/support/op_call.h"

namespace assay::test::conv_transpose_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(ConvTranspose, WeightsAreInputMajor) {
  const Tensor x = tensor({1, 2, 1, 1}, {1, 2}), w = tensor({2, 2, 1, 1}, {1, 2, 3, 4}),
               b = tensor({2}, {1, 1});
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call{"ConvTranspose", {x, w, b}};
    call.precision = p;
    EXPECT_EQ(values(run_one(call)), (Floats{8, 11}));
  }
}

TEST(ConvTranspose, StridePaddingAndSizes) {
  const Tensor x = tensor({1, 1, 2}, {1, 10}), w = tensor({1, 1, 3}, {1, 2, 3});
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}})), (Floats{1, 12, 23, 30}));
  const Attributes two{{"strides", Ints{2}}};
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, two})), (Floats{1, 2, 13, 20, 30}));
  Attributes a = two;
  a.set("pads", Ints{1, 1});
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, a})), (Floats{2, 13, 20}));
  a.set("output_padding", Ints{1});
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, a})), (Floats{2, 13, 20, 30}));
  Attributes shape = two;
  shape.set("output_shape", Ints{4});  // one element too many: cut at the beginning
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, shape})), (Floats{2, 13, 20, 30}));
  Attributes wide = two;
  wide.set("output_shape", Ints{6});  // one more than the full result: a zero at the end
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, wide})), (Floats{1, 2, 13, 20, 30, 0}));
  shape.set("auto_pad", std::string("SAME_UPPER"));  // cut at the end
  EXPECT_EQ(values(run_one({"ConvTranspose", {x, w}, shape})), (Floats{1, 2, 13, 20}));
}

TEST(ConvTranspose, GroupsDilationAgainstTheExactSum) {
  const Tensor x = random_tensor({2, 4, 5, 4}, -1, 1, 1), w = random_tensor({4, 3, 2, 3}, -1, 1, 2);
  const Attributes a{{"group", std::int64_t{2}},
                     {"strides", Ints{2, 1}},
                     {"dilations", Ints{1, 2}},
                     {"pads", Ints{1, 0, 0, 1}}};
  const Tensor y = run_one({"ConvTranspose", {x, w}, a});
  ASSERT_EQ(y.shape(), (Shape{2, 6, 9, 7}));
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const std::int64_t ow = i % 7, oh = i / 7 % 9, oc = i / 63 % 6, n = i / 378;
    FloatAccumulator sum;
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t k = 0; k < 6; ++k) {
        const std::int64_t up = oh + 1 - k / 3, iw = ow - 2 * (k % 3), ic = oc / 3 * 2 + c;
        if (up < 0 || up % 2 != 0 || up / 2 >= 5 || iw < 0 || iw >= 4) continue;
        sum.add_product(
            x.data<float>()[static_cast<std::size_t>(((n * 4 + ic) * 5 + up / 2) * 4 + iw)],
            w.data<float>()[static_cast<std::size_t>((ic * 3 + oc % 3) * 6 + k)]);
      }
    }
    ASSERT_EQ(bits(y.data<float>()[static_cast<std::size_t>(i)]), bits(sum.round_to_float())) << i;
  }
}

TEST(ConvTranspose, RadiusHolds) {
  const OpCall call{"ConvTranspose",
                    {random_tensor({1, 8, 6, 6}, -1, 1, 1), random_tensor({8, 4, 3, 3}, -1, 1, 2)},
                    {{"strides", Ints{2, 2}}}};
  const double use = radius_use(call);
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

TEST(ConvTranspose, Errors) {
  const auto call = [] {
    run_one({"ConvTranspose", {tensor({1, 2, 1}, {1, 2}), tensor({3, 1, 1}, {1, 1, 1})}});
  };
  EXPECT_NE(error_of(call).find("channels"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::conv_transpose_test
