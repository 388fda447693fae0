// Rule fold_bn_matmul: a rank-2 product becomes a Gemm.
#include "tests/fusion/net.h"

namespace assay::fold_bn_matmul_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_matmul";

TEST(FoldBnMatMul, BecomesGemm) {
  Net net("c = MatMul(x, W)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
  net.input("x", {1, 2})
      .constant("W", f32({2, 2}, {1, 2, 3, 4}))
      .constant("g", f32({2}, {2, 3}))
      .constant("b", f32({2}, {0, 1}));
  net.constant("m", f32({2}, {1, 0})).constant("v", f32({2}, {1, 1}));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Gemm");
  const Feeds x = {{"x", f32({1, 2}, {1, 1})}};
  EXPECT_EQ(floats(run_cr(r.graph, x).at("y")), (std::vector<float>{6, 19}));
  expect_same_bits(g, r.graph, x);
}

TEST(FoldBnMatMul, RankThreeDeclines) {
  Net net("c = MatMul(x, W)\ny = BatchNormalization(c, p, p, p, p)");
  net.input("x", {1, 2, 2})
      .constant("W", f32({2, 2}, {1, 2, 3, 4}))
      .constant("p", f32({2}, {1, 1}));
  expect_declined(net.build(), rule, "has rank 3");
}

TEST(FoldBnMatMul, WeightOnTheLeftDeclines) {
  Net net("c = MatMul(W, x)\ny = BatchNormalization(c, p, p, p, p)");
  net.input("x", {2, 2}).constant("W", f32({2, 2}, {1, 2, 3, 4})).constant("p", f32({2}, {1, 1}));
  expect_declined(net.build(), rule, "weight 'x' is not constant");
}

}  // namespace
}  // namespace assay::fold_bn_matmul_test
