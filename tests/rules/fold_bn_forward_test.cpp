// Rule fold_bn_forward: a normalization into the operator behind it, where every output sums over
// all taps.
#include "tests/fusion/net.h"

namespace assay {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_forward";

const std::string bn = "c = BatchNormalization<epsilon=0.0>(r, g, b, m, v)\n";

Net net_of(const std::string& last, const Tensor& w, const Tensor& beta) {
  Net net("r = Relu(x)\n" + bn + last);
  net.input("x", {1, 2, 2, 2})
      .constant("g", f32({2}, {2, 3}))
      .constant("b", beta)
      .constant("m", f32({2}, {0, 0}));
  net.constant("v", f32({2}, {1, 4})).constant("W", w).constant("B", f32({2}, {1, -1}));
  return net;
}
const Feeds x = {{"x", grid({1, 2, 2, 2}, 7)}};

TEST(FoldBnForward, ConvWithoutPadding) {
  for (const std::string last :
       {"y = Conv(c, W)", "y = Conv(c, W, B)", "y = Conv<auto_pad=\"VALID\">(c, W, B)"}) {
    const Graph g = net_of(last, grid({2, 2, 2, 2}, 1), f32({2}, {1, -2})).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Relu, Conv");
    expect_same_bits(g, r.graph, x);
  }
}

TEST(FoldBnForward, PaddingIsLegalWhenZeroStaysZero) {
  const Graph legal =
      net_of("y = Conv<pads=[1,1,1,1]>(c, W)", grid({2, 2, 2, 2}, 1), f32({2}, {0, 0})).build();
  const FusionResult r = fuse(legal, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Relu, Conv");
  expect_same_bits(legal, r.graph, x);
  expect_declined(
      net_of("y = Conv<pads=[1,1,1,1]>(c, W)", grid({2, 2, 2, 2}, 1), f32({2}, {0, 1})).build(),
      rule, "maps 0 to 1.000000 in channel 1");
  expect_declined(
      net_of("y = Conv<auto_pad=\"SAME_UPPER\">(c, W)", grid({2, 2, 2, 2}, 1), f32({2}, {0, 1}))
          .build(),
      rule, "pads with 0");
}

TEST(FoldBnForward, GroupAndTransposeDecline) {
  expect_declined(
      net_of("y = Conv<group=2>(c, W)", grid({2, 1, 2, 2}, 1), f32({2}, {0, 1})).build(), rule,
      "group = 2");
  expect_declined(
      net_of("y = ConvTranspose(c, W)", grid({2, 2, 2, 2}, 1), f32({2}, {0, 1})).build(), rule,
      "ConvTranspose");
}

TEST(FoldBnForward, BackwardGoesFirst) {
  Net net("r = Conv(x, V)\n" + bn + "y = Conv(c, W)");
  net.input("x", {1, 2, 2, 2})
      .constant("g", f32({2}, {2, 3}))
      .constant("b", f32({2}, {1, 1}))
      .constant("m", f32({2}, {0, 0}));
  net.constant("v", f32({2}, {1, 4}))
      .constant("W", grid({2, 2, 1, 1}, 1))
      .constant("V", grid({2, 2, 1, 1}, 2));
  const FusionResult r = fuse(net.build(), {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), "Conv, Conv");
  EXPECT_EQ(r.log.count(rule), 0);
  EXPECT_EQ(r.log.count("fold_bn_conv"), 1);
}

TEST(FoldBnForward, BothSidesOfOneConvRoundOnce) {
  Net net("r = Relu(x)\n" + bn +
          "d = Conv(c, W)\ny = BatchNormalization<epsilon=0.0>(d, g, b, m, v)");
  net.input("x", {1, 2, 2, 2})
      .constant("g", f32({2}, {0.1F, 0.7F}))
      .constant("b", f32({2}, {1, 1}))
      .constant("m", f32({2}, {0, 0}));
  net.constant("v", f32({2}, {1, 1})).constant("W", f32({2, 2, 1, 1}, {0.1F, 0.3F, 0.7F, 1.1F}));
  const Graph fused = fuse(net.build(), {.mode = "all"}).graph;
  ASSERT_EQ(ops_of(fused), "Relu, Conv");
  const Node& conv = fused.node(fused.topological_order()[1]);
  const auto w = fused.constant(conv.inputs[1])->data<float>();
  const float in[] = {0.1F, 0.7F};
  const float weights[] = {0.1F, 0.3F, 0.7F, 1.1F};
  for (std::size_t i = 0; i < 4; ++i) {
    // Exact product of three float32 numbers (72 bits) in long double (64): the error is far below
    // a float32 tie here.
    const long double exact = static_cast<long double>(weights[i]) * in[i % 2] * in[i / 2];
    EXPECT_EQ(w[i], static_cast<float>(exact));
  }
}

TEST(FoldBnForward, GemmAndMatMul) {
  for (const std::string last :
       {"y = Gemm(c, W, B)", "y = Gemm<transB=1>(c, W, B)", "y = MatMul(c, W)"}) {
    Net net("r = Relu(x)\n" + bn + last);
    net.input("x", {3, 2})
        .constant("g", f32({2}, {2, 3}))
        .constant("b", f32({2}, {1, 1}))
        .constant("m", f32({2}, {0, 1}));
    net.constant("v", f32({2}, {1, 4}))
        .constant("W", f32({2, 2}, {1, 2, 3, 4}))
        .constant("B", f32({2}, {1, -1}));
    const Graph g = net.build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Relu, Gemm");
    expect_same_bits(g, r.graph, {{"x", grid({3, 2}, 3)}});
  }
}

}  // namespace
}  // namespace assay
