// Rule fold_bn_add: a constant addend behind a normalization, and the chain into a Conv with one
// rounding.
#include "tests/fusion/net.h"

namespace assay::fold_bn_add_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_add";

TEST(FoldBnAdd, AddAndSub) {
  for (const std::string last : {"y = Add(c, k)", "y = Add(k, c)", "y = Sub(c, k)"}) {
    Net net("c = BatchNormalization<epsilon=0.0>(x, g, b, m, v)\n" + last);
    net.input("x", {1, 2, 1, 2})
        .constant("g", f32({2}, {2, 3}))
        .constant("b", f32({2}, {1, -1}))
        .constant("k", f32({2, 1, 1}, {5, 6}));
    net.constant("m", f32({2}, {1, 0})).constant("v", f32({2}, {1, 4}));
    const Graph g = net.build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "BatchNormalization");
    expect_same_bits(g, r.graph, {{"x", f32({1, 2, 1, 2}, {1, 2, 3, 4})}});
  }
}

TEST(FoldBnAdd, ConstantFirstSubDeclinesByPattern) {
  Net net("c = BatchNormalization(x, p, p, p, p)\ny = Sub(p, c)");
  net.input("x", {1, 1}).constant("p", f32({1}, {1}));
  EXPECT_TRUE(fuse(net.build(), {.mode = rule}).log.fired.empty());
}

TEST(FoldBnAdd, SecondReaderDeclines) {
  Net net("c = BatchNormalization(x, p, p, p, p)\ny = Add(c, p)\nz = Relu(c)");
  net.input("x", {1, 1}).constant("p", f32({1}, {1})).outputs({"y", "z"});
  expect_declined(net.build(), rule, "also read by node 'n_z'");
}

TEST(FoldBnAdd, ChainIntoConvRoundsOnceInAnyOrder) {
  // w·γ/√(v+ε)·k with w=0.1, γ=1.7, v=0.6, ε=1e-5, k=1.3, all float32. The exact product of the
  // float32 values, from 60-digit decimal arithmetic, is 0.28530943...; step by step in float32 it
  // can end one ULP off.
  Net net(
      "c = Conv(x, W)\nn = BatchNormalization<epsilon=1e-05>(c, g, b, m, v)\np = Mul(n, k)\ny = "
      "Add(p, a)");
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {0.1F}))
      .constant("g", f32({1}, {1.7F}))
      .constant("b", f32({1}, {0.3F}));
  net.constant("m", f32({1}, {0.2F}))
      .constant("v", f32({1}, {0.6F}))
      .constant("k", f32({}, {1.3F}))
      .constant("a", f32({}, {0.7F}));
  const Graph g = net.build();
  std::vector<std::vector<float>> seen;
  for (unsigned order = 0; order < 12; ++order) {
    const Graph fused = fuse(g, {.mode = "all", .order_seed = order}).graph;
    ASSERT_EQ(ops_of(fused), "Conv");
    const Node& conv = fused.node(fused.topological_order()[0]);
    seen.push_back({fused.constant(conv.inputs[1])->data<float>()[0],
                    fused.constant(conv.inputs[2])->data<float>()[0]});
  }
  const double s = static_cast<double>(1.7F) /
                   std::sqrt(static_cast<double>(0.6F) + static_cast<double>(1e-05F)) *
                   static_cast<double>(1.3F);
  const double t =
      (static_cast<double>(0.3F) - static_cast<double>(0.2F) * (s / static_cast<double>(1.3F))) *
          static_cast<double>(1.3F) +
      static_cast<double>(0.7F);
  for (const auto& constants : seen) {
    EXPECT_EQ(constants[0], static_cast<float>(static_cast<double>(0.1F) *
                                               s));  // double errs by 1e-15 here, far from a tie
    EXPECT_EQ(constants[1], static_cast<float>(t));
  }
}

}  // namespace
}  // namespace assay::fold_bn_add_test
