// Rule fold_bn_forward: a normalization into the operator behind it, where every output sums over
// all taps.
#include "tests/fusion/net.h"

namespace assay::fold_bn_forward_test {
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

TEST(FoldBnForward, StepsBehindActOnTheShiftInFrontToo) {
  // y = 2·W·(x + 1) + 3 with W = 5: the factor 2 came before there was a bias to multiply.
  Net net(
      "r = Relu(x)\nc = BatchNormalization<epsilon=0.0>(r, o, o, z, o)\nd = Conv(c, W)\ne = Mul(d, "
      "k)\ny = BatchNormalization<epsilon=0.0>(e, o, t, z, o)");
  net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {5})).constant("o", f32({1}, {1}));
  net.constant("z", f32({1}, {0})).constant("t", f32({1}, {3})).constant("k", f32({1}, {2}));
  const FusionResult r = fuse(net.build(), {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), "Relu, Conv");
  EXPECT_EQ(floats(run_cr(r.graph, {{"x", f32({1, 1, 1, 1}, {4})}}).at("y"))[0], 53);
}

TEST(FoldBnForward, BetaOfAGemm) {
  const auto net_with = [](const std::string& last) {
    Net net("r = Relu(x)\n" + bn + last);
    net.input("x", {1, 2}).constant("W", f32({2, 2}, {1, 2, 3, 4}));
    net.constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, 1}));
    net.constant("m", f32({2}, {0, 1})).constant("v", f32({2}, {1, 4}));
    return net.constant("B", f32({2}, {1, -1}));
  };
  // Without a bias beta acts on nothing, and must not act on the bias that the fold makes.
  const Graph free = net_with("y = Gemm<beta=3.0>(c, W)").build();
  const FusionResult r = fuse(free, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Relu, Gemm");
  expect_same_bits(free, r.graph, {{"x", f32({1, 2}, {5, 7})}});
  expect_declined(net_with("y = Gemm<beta=3.0>(c, W, B)").build(), rule, "beta other than 1");
  // The same when a fold behind has multiplied the bias by beta already.
  const Graph folded = net_with("d = Gemm<beta=3.0>(c, W, B)\ny = Add(d, b)").build();
  const FusionResult both = fuse(folded, {.mode = "fold_linear_add," + std::string(rule)});
  EXPECT_EQ(ops_of(both.graph), "Relu, BatchNormalization, Gemm");
  EXPECT_NE(reason(both.log, rule).find("beta other than 1"), std::string::npos);
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
}  // namespace assay::fold_bn_forward_test
