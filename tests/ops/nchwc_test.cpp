// com.microsoft.nchwc: blocked operators against the plain ones.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/ops/nchwc.h"
#include "tests/support/function_check.h"

namespace assay::test::nchwc_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

OpCall blocked(const std::string& type, std::vector<Tensor> inputs, Attributes a) {
  OpCall call{type, std::move(inputs), std::move(a)};
  call.domain = nchwc_domain;
  call.attributes.set("block_size", std::int64_t{8});
  return call;
}

/// Stores a plain filter as ONNX Runtime does: [O/8, I/8, taps, 8 in, 8 out], or [O/8, I, taps, 8
/// out].
Tensor block_filter(const Tensor& w, bool obo) {
  Tensor out(w.dtype(), w.shape());
  const std::int64_t inputs = w.shape()[1], taps = w.shape().numel(2, 4), lanes = obo ? 1 : 8;
  for (std::int64_t i = 0; i < w.numel(); ++i) {
    const std::int64_t k = i % taps, in = i / taps % inputs, o = i / (taps * inputs);
    const std::int64_t to =
        (((o / 8 * (inputs / lanes) + in / lanes) * taps + k) * lanes + in % lanes) * 8 + o % 8;
    out.mutable_data<float>()[static_cast<std::size_t>(to)] =
        w.data<float>()[static_cast<std::size_t>(i)];
  }
  return out;
}

TEST(Nchwc, LayoutsGoBothWays) {
  const Tensor x = random_tensor({2, 16, 3, 2}, -1, 1, 1);
  const Tensor b = block_activation(x, 8);
  EXPECT_TRUE(same_bits(unblock_activation(b, 8), x));
  EXPECT_EQ(b.data<float>()[1], x.data<float>()[6]);  // the second lane is the second channel
  const Tensor w = random_tensor({16, 16, 2, 3}, -1, 1, 2);
  EXPECT_TRUE(same_bits(unblock_filter(block_filter(w, false), 8, false), w));
  EXPECT_TRUE(same_bits(unblock_filter(block_filter(w, true), 8, true), w));
}

TEST(Nchwc, ConvolutionEqualsThePlainOne) {
  const Tensor x = random_tensor({2, 16, 5, 4}, -1, 1, 1),
               w = random_tensor({8, 16, 3, 3}, -1, 1, 2), b = random_tensor({8}, -1, 1, 3);
  const Tensor sum = random_tensor({2, 8, 5, 4}, -1, 1, 4);
  const Attributes a{{"pads", Ints{1, 1, 1, 1}}, {"activation", std::string("Relu")}};
  const Tensor y = run_one(blocked(
      "Conv", {block_activation(x, 8), block_filter(w, false), b, block_activation(sum, 8)}, a));
  OpCall plain{"FusedConv", {x, w, b, sum}, a};
  plain.domain = "com.microsoft";
  EXPECT_TRUE(same_bits(unblock_activation(y, 8), run_one(plain)));
}

TEST(Nchwc, FirstConvolutionReadsPlainInput) {
  const Tensor x = random_tensor({1, 3, 5, 4}, -1, 1, 1), w = random_tensor({8, 3, 3, 3}, -1, 1, 2);
  const Tensor y = run_one(blocked("Conv", {x, block_filter(w, true)}, {}));
  EXPECT_TRUE(same_bits(unblock_activation(y, 8), run_one({"Conv", {x, w}})));
}

TEST(Nchwc, DepthwiseAndPools) {
  const Tensor x = random_tensor({1, 8, 5, 4}, -1, 1, 1), w = random_tensor({8, 1, 3, 3}, -1, 1, 2);
  const Tensor xb = block_activation(x, 8);
  const Attributes group{{"group", std::int64_t{8}}};
  EXPECT_TRUE(
      same_bits(unblock_activation(run_one(blocked("Conv", {xb, block_filter(w, true)}, group)), 8),
                run_one({"Conv", {x, w}, group})));
  const Attributes pool{{"kernel_shape", Ints{2, 2}}};
  for (const char* type : {"MaxPool", "AveragePool"})
    EXPECT_TRUE(same_bits(unblock_activation(run_one(blocked(type, {xb}, pool)), 8),
                          run_one({type, {x}, pool})))
        << type;
  for (const char* type : {"GlobalMaxPool", "GlobalAveragePool"})
    EXPECT_TRUE(
        same_bits(unblock_activation(run_one(blocked(type, {xb}, {})), 8), run_one({type, {x}})))
        << type;
}

TEST(Nchwc, ReordersPadAndCut) {
  const Tensor x = random_tensor({2, 5, 3, 2}, -1, 1, 1);
  const Tensor b = run_one(blocked("ReorderInput", {x}, {}));
  ASSERT_EQ(b.shape(), (Shape{2, 8, 3, 2}));
  const Tensor plain = unblock_activation(b, 8);
  EXPECT_EQ(plain.data<float>()[5 * 6], 0.0F);  // the sixth channel is padding
  EXPECT_TRUE(
      same_bits(run_one(blocked("ReorderOutput", {b}, {{"channels", std::int64_t{5}}})), x));
  const Tensor last = run_one(blocked(
      "ReorderOutput", {b}, {{"channels", std::int64_t{5}}, {"channels_last", std::int64_t{1}}}));
  ASSERT_EQ(last.shape(), (Shape{2, 3, 2, 5}));
  EXPECT_EQ(last.data<float>()[1], x.data<float>()[6]);
  EXPECT_TRUE(
      same_bits(run_one(blocked("ReorderInput", {last}, {{"channels_last", std::int64_t{1}}})), b));
  const auto many = [&] {
    run_one(blocked("ReorderOutput", {b}, {{"channels", std::int64_t{9}}}));
  };
  EXPECT_NE(error_of(many).find("more channels"), std::string::npos);
}

TEST(Nchwc, UpsampleRepeatsPixels) {
  const Tensor x = random_tensor({1, 8, 2, 1}, -1, 1, 1);
  const Tensor y = unblock_activation(
      run_one(blocked("Upsample", {block_activation(x, 8)}, {{"scales", Ints{1, 1, 2, 3}}})), 8);
  ASSERT_EQ(y.shape(), (Shape{1, 8, 4, 3}));
  for (std::int64_t i = 0; i < y.numel(); ++i)
    EXPECT_EQ(y.data<float>()[static_cast<std::size_t>(i)],
              x.data<float>()[static_cast<std::size_t>(i / 12 * 2 + i / 6 % 2)]);
}

TEST(Nchwc, RadiusHolds) {
  const Tensor x = random_tensor({1, 16, 5, 4}, -1, 1, 1),
               w = random_tensor({8, 16, 3, 3}, -1, 1, 2);
  const double use =
      radius_use(blocked("Conv", {block_activation(x, 8), block_filter(w, false)}, {}));
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

}  // namespace
}  // namespace assay::test::nchwc_test
