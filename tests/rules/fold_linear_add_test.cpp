// Rule fold_linear_add: a constant addend becomes the bias only when it is one value per channel.
#include "tests/fusion/net.h"

namespace assay::fold_linear_add_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_linear_add";

Net net_of(const std::string& last, const Tensor& k) {
  Net net("c = Conv(x, W, B)\n" + last);
  net.input("x", {1, 1, 1, 2})
      .constant("W", f32({2, 1, 1, 1}, {1, 2}))
      .constant("B", f32({2}, {1, 0}))
      .constant("k", k);
  return net;
}
const Feeds x = {{"x", f32({1, 1, 1, 2}, {5, 7})}};

TEST(FoldLinearAdd, AddSubAndReversedSub) {
  for (const std::string last :
       {"y = Add(c, k)", "y = Add(k, c)", "y = Sub(c, k)", "y = Sub(k, c)"}) {
    for (const Tensor& k : {f32({}, {2}), f32({2, 1, 1}, {2, -4}), f32({1, 2, 1, 1}, {3, 1})}) {
      const Graph g = net_of(last, k).build();
      const FusionResult r = fuse(g, {.mode = rule});
      EXPECT_EQ(ops_of(r.graph), "Conv");
      expect_same_bits(g, r.graph, x);
    }
  }
}

TEST(FoldLinearAdd, MatMulBecomesGemmAtRankTwo) {
  Net net("c = MatMul(x, W)\ny = Add(c, k)");
  net.input("x", {1, 2}).constant("W", f32({2, 2}, {1, 2, 3, 4})).constant("k", f32({2}, {5, 6}));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = "amct-onnx"});
  EXPECT_EQ(ops_of(r.graph), "Gemm");
  EXPECT_EQ(floats(run_cr(r.graph, {{"x", f32({1, 2}, {1, 1})}}).at("y")),
            (std::vector<float>{9, 12}));
}

TEST(FoldLinearAdd, Declines) {
  expect_declined(net_of("y = Add(c, k)", f32({2}, {1, 2})).build(), rule,
                  "[2]: aligned from the right");
  expect_declined(net_of("y = Add(c, k)", f32({1, 2, 1, 2}, {1, 2, 3, 4})).build(), rule,
                  "not one value per output channel");
  expect_declined(net_of("y = Add(c, k)", f32({1, 1, 2, 1, 1}, {1, 2})).build(), rule,
                  "rank is above");
  Net rank3("c = MatMul(x, W)\ny = Add(c, k)");
  rank3.input("x", {1, 2, 2})
      .constant("W", f32({2, 2}, {1, 2, 3, 4}))
      .constant("k", f32({2}, {5, 6}));
  expect_declined(rank3.build(), rule, "has rank 3");
  Net fed("c = Conv(x, W)\ny = Add(c, k)");
  fed.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1})).overridable("k", f32({}, {1}));
  expect_declined(fed.build(), rule, "override");
}

TEST(FoldLinearAdd, ResidualIsNoNearMatch) {
  Net net("c = Conv(x, W)\ny = Add(c, x)");
  net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1}));
  EXPECT_TRUE(fuse(net.build(), {.mode = rule}).log.declined.empty());
}

}  // namespace
}  // namespace assay::fold_linear_add_test
