// Rule fold_linear_mul: OP + (BiasAdd) + Mul.
#include "tests/fusion/net.h"

namespace assay::fold_linear_mul_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_linear_mul";

Net conv(const std::string& rest) {
  Net net("c = Conv(x, W, B)\n" + rest);
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({2, 1, 1, 1}, {1, 2}))
      .constant("B", f32({2}, {1, 0}));
  return net;
}
const Feeds x5 = {{"x", f32({1, 1, 1, 1}, {5})}};

TEST(FoldLinearMul, ScalarPerChannelDivAndBias) {
  for (const std::string last : {"y = Mul(c, k)", "y = Mul(k, c)", "y = Div(c, k)"}) {
    for (const Tensor& k :
         {f32({}, {2}), f32({1}, {2}), f32({1, 1, 1, 1}, {4}), f32({2, 1, 1}, {2, -4})}) {
      const Graph g = conv(last).constant("k", k).build();
      const FusionResult r = fuse(g, {.mode = rule});
      EXPECT_EQ(ops_of(r.graph), "Conv");
      expect_same_bits(g, r.graph, x5);
    }
  }
}

TEST(FoldLinearMul, BiasAddInBetweenIsScaledToo) {
  Net net("c = Conv(x, W)\nd = Add(c, a)\ny = Mul(d, k)");
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {1}))
      .constant("a", f32({1, 1, 1}, {1}))
      .constant("k", f32({}, {2}));
  const FusionResult r = fuse(net.build(), {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  EXPECT_EQ(r.log.fired[0].removed.size(), 3U);
  EXPECT_EQ(floats(run_cr(r.graph, x5).at("y")),
            std::vector<float>{12});  // (5+1)·2; unscaled bias: 11
}

TEST(FoldLinearMul, OrderMatters) {
  const Graph add_then_mul = conv("d = Add(c, three)\ny = Mul(d, two)")
                                 .constant("two", f32({}, {2}))
                                 .constant("three", f32({}, {3}))
                                 .build();
  const Graph mul_then_add = conv("d = Mul(c, two)\ny = Add(d, three)")
                                 .constant("two", f32({}, {2}))
                                 .constant("three", f32({}, {3}))
                                 .build();
  EXPECT_EQ(floats(run_cr(fuse(add_then_mul).graph, x5).at("y")), (std::vector<float>{18, 26}));
  EXPECT_EQ(floats(run_cr(fuse(mul_then_add).graph, x5).at("y")), (std::vector<float>{15, 23}));
}

TEST(FoldLinearMul, MatMulKeepsItsRankAndGetsNoBias) {
  Net net("c = MatMul(x, W)\ny = Mul(c, k)");
  net.input("x", {1, 2, 2})
      .constant("W", f32({2, 2}, {1, 2, 3, 4}))
      .constant("k", f32({2}, {2, 4}));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "MatMul");
  expect_same_bits(g, r.graph, {{"x", grid({1, 2, 2}, 1)}});
}

TEST(FoldLinearMul, AmctTakesTheEmptyShapeOnly) {
  EXPECT_EQ(fuse(conv("y = Mul(c, k)").constant("k", f32({}, {2})).build(), {.mode = "amct-tf"})
                .log.count(rule),
            1);
  for (const Tensor& k : {f32({1}, {2}), f32({1, 1, 1, 1}, {2})}) {
    const FusionResult r =
        fuse(conv("y = Mul(c, k)").constant("k", k).build(), {.mode = "amct-tf"});
    EXPECT_EQ(r.log.count(rule), 0);
    EXPECT_NE(reason(r.log, rule).find("empty shape"), std::string::npos);
  }
}

TEST(FoldLinearMul, Declines) {
  expect_declined(conv("y = Mul(c, k)").constant("k", f32({2}, {1, 2})).build(), rule,
                  "not one value per output channel");
  expect_declined(conv("y = Div(c, k)").constant("k", f32({2, 1, 1}, {1, 0})).build(), rule,
                  "channel 1 divides by 0");
  expect_declined(conv("y = Mul(c, k)").constant("k", f32({}, {3e38F})).build(), rule,
                  "not finite");
  expect_declined(conv("y = Mul(c, k)").overridable("k", f32({}, {2})).build(), rule, "override");
  expect_declined(
      conv("y = Mul(c, k)\nz = Relu(c)").constant("k", f32({}, {2})).outputs({"y", "z"}).build(),
      rule, "also read by");
}

TEST(FoldLinearMul, ProductsOfHigherRankAtOpset6) {
  // The bias becomes an Add of its own, which broadcasts only when told so before opset 7.
  Net net("c = MatMul(x, W)\nd = Add<broadcast=1>(c, b)\ny = Mul<broadcast=1>(d, k)", 6);
  net.input("x", {2, 2, 2}).constant("W", f32({2, 2}, {1, 2, 3, 4}));
  net.constant("b", f32({2}, {1, 2})).constant("k", f32({1}, {2}));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = "fold_linear_mul"});
  EXPECT_EQ(ops_of(r.graph), "MatMul, Add");
  expect_same_bits(g, r.graph, {{"x", grid({2, 2, 2}, 3)}});
}

TEST(FoldLinearMul, ChainsBehindAProductOfHigherRankCountEachStepOnce) {
  // ((x·W + 3)·2)·5 with W = 1, and in numbers that round: each constant is rounded once.
  Net net("c = MatMul(x, W)\nd = Add(c, b)\ne = Mul(d, k)\ny = Mul(e, l)");
  net.input("x", {1, 1, 1}).constant("W", f32({1, 1}, {1})).constant("b", f32({1}, {3}));
  net.constant("k", f32({}, {2})).constant("l", f32({}, {5}));
  const FusionResult r = fuse(net.build(), {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), "MatMul, Add");
  EXPECT_EQ(r.log.count("fold_linear_mul"), 2);
  EXPECT_EQ(floats(run_cr(r.graph, {{"x", f32({1, 1, 1}, {4})}}).at("y"))[0], 70);
  Net rough("c = MatMul(x, W)\nd = Add(c, b)\ne = Mul(d, k)\ny = Mul(e, l)");
  rough.input("x", {1, 1, 1}).constant("W", f32({1, 1}, {1})).constant("b", f32({1}, {0.1F}));
  rough.constant("k", f32({}, {0.7F})).constant("l", f32({}, {1.1F}));
  const FusionResult q = fuse(rough.build(), {.mode = "all"});
  // A product of three float32 numbers has 72 bits: long double is off by far less than a tie here.
  const long double exact = static_cast<long double>(0.1F) * 0.7F * 1.1F;
  EXPECT_EQ(floats(run_cr(q.graph, {{"x", f32({1, 1, 1}, {0})}}).at("y"))[0],
            static_cast<float>(exact));
}

}  // namespace
}  // namespace assay::fold_linear_mul_test
