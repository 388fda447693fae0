// Rule fold_bn_mul: a constant factor behind a normalization.
#include "tests/fusion/net.h"

namespace assay::fold_bn_mul_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_mul";

Net net_of(const std::string& last) {
  Net net("c = BatchNormalization<epsilon=0.0>(x, g, b, m, v)\n" + last);
  net.input("x", {1, 2, 1, 2}).constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, -1}));
  net.constant("m", f32({2}, {1, 0})).constant("v", f32({2}, {1, 4}));
  return net;
}
const Feeds x = {{"x", f32({1, 2, 1, 2}, {1, 2, 3, 4})}};

TEST(FoldBnMul, ScalarPerChannelEitherSideAndDiv) {
  for (const std::string last : {"y = Mul(c, k)", "y = Mul(k, c)", "y = Div(c, k)"}) {
    for (const Tensor& k : {f32({}, {2}), f32({2, 1, 1}, {4, -2}), f32({1, 2, 1, 1}, {4, 8})}) {
      const Graph g = net_of(last).constant("k", k).build();
      const FusionResult r = fuse(g, {.mode = rule});
      EXPECT_EQ(ops_of(r.graph), "BatchNormalization");
      expect_same_bits(g, r.graph, x);
    }
  }
}

TEST(FoldBnMul, Declines) {
  expect_declined(net_of("y = Mul(c, k)").constant("k", f32({2}, {1, 2})).build(), rule,
                  "not one value per output channel");
  expect_declined(net_of("y = Mul(c, k)").constant("k", f32({1, 1, 1, 1, 1}, {1})).build(), rule,
                  "rank is above");
  expect_declined(net_of("y = Div(c, k)").constant("k", f32({}, {0})).build(), rule,
                  "divides by 0");
  expect_declined(net_of("y = Mul(c, k)").overridable("k", f32({}, {2})).build(), rule,
                  "the caller may override it");
  expect_declined(net_of("y = Mul(c, k)").constant("k", f32({}, {2})).outputs({"y", "c"}).build(),
                  rule, "graph output");
  EXPECT_TRUE(
      fuse(net_of("y = Mul(c, k)").input("k", {}).build(), {.mode = rule}).log.declined.empty());
}

TEST(FoldBnMul, GoesIntoTheNormalizationBeforeThatMovesOrFolds) {
  // Whatever the order of the rules: else the factor would be left behind the Reshape, or behind
  // the Conv in a set that has no rule for Conv + Mul.
  for (const std::string mode : {"amct-onnx", "all"}) {
    Net net(
        "c = Conv(x, W)\nr = Reshape(c, t)\nn = BatchNormalization<epsilon=0.0>(r, g, b, m, v)\ny "
        "= "
        "Mul(n, k)");
    net.input("x", {1, 2, 2, 2}).constant("W", grid({2, 2, 1, 1}, 1)).constant("t", i64({1, 2, 4}));
    net.constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, 1}));
    net.constant("m", f32({2}, {0, 1})).constant("v", f32({2}, {1, 4}));
    net.constant("k", f32({2, 1}, {2, 0.5F}));
    const Graph g = net.build();
    for (const unsigned order : {0U, 1U, 2U, 3U}) {
      const FusionResult r = fuse(g, {.mode = mode, .order_seed = order});
      EXPECT_EQ(r.log.count(rule), 1) << mode << order;
      expect_same_bits(g, r.graph, {{"x", grid({1, 2, 2, 2}, 3)}});
    }
    EXPECT_EQ(ops_of(fuse(g, {.mode = "all"}).graph), "Conv, Reshape");
  }
}

}  // namespace
}  // namespace assay::fold_bn_mul_test
