// Rule fold_bn_conv_transpose: the output channel is axis 1 of the weight, within its group.
#include "tests/fusion/net.h"

namespace assay::fold_bn_conv_transpose_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_conv_transpose";

Net net_of(std::int64_t group, std::int64_t cin, std::int64_t per_group) {
  const std::int64_t out = group * per_group;
  Net net("c = ConvTranspose<group=" + std::to_string(group) +
          ">(x, W, B)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
  net.input("x", {1, cin, 2, 2})
      .constant("W", grid({cin, per_group, 2, 2}, 1))
      .constant("B", grid({out}, 2));
  Tensor gamma(DType::float32, Shape{out});
  for (std::int64_t i = 0; i < out; ++i)
    gamma.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
  Tensor one = Tensor::zeros(DType::float32, Shape{out});
  for (float& v : one.mutable_data<float>()) v = 1;
  net.constant("g", gamma)
      .constant("b", grid({out}, 3))
      .constant("m", grid({out}, 4))
      .constant("v", one);
  return net;
}

TEST(FoldBnConvTranspose, SquareAndGroupedWeights) {
  for (const auto& [group, cin, per_group] :
       {std::array<std::int64_t, 3>{1, 2, 2}, {1, 3, 2}, {1, 2, 3}, {2, 4, 3}, {3, 3, 1}}) {
    const Graph g = net_of(group, cin, per_group).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "ConvTranspose");
    expect_same_bits(g, r.graph, {{"x", grid({1, cin, 2, 2}, 5)}});
  }
}

TEST(FoldBnConvTranspose, SharedWeightDeclines) {
  Net net(
      "c = ConvTranspose(x, W)\ny = BatchNormalization(c, p, p, p, p)\nz = ConvTranspose(x, W)");
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {1}))
      .constant("p", f32({1}, {1}))
      .outputs({"y", "z"});
  expect_declined(net.build(), rule, "shared");
}

TEST(FoldBnConvTranspose, AmctWantsNoDilation) {
  Net net("c = ConvTranspose<dilations=[2,2]>(x, W)\ny = BatchNormalization(c, p, p, p, p)");
  net.input("x", {1, 1, 3, 3})
      .constant("W", f32({1, 1, 2, 2}, {1, 1, 1, 1}))
      .constant("p", f32({1}, {1}));
  const FusionResult r = fuse(net.build(), {.mode = "amct-onnx"});
  EXPECT_NE(reason(r.log, rule).find("dilation"), std::string::npos);
}

}  // namespace
}  // namespace assay::fold_bn_conv_transpose_test
