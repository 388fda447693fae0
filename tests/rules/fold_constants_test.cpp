// Rule fold_constants: transitively constant values, within a stated size.
#include "tests/fusion/net.h"

namespace assay::fold_constants_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_constants";

TEST(FoldConstants, ChainsAndKeepsTheRest) {
  Net net("a = Add(k, k)\nb = Sqrt(a)\ny = Mul(x, b)");
  const Graph g = net.input("x", {1}).constant("k", f32({1}, {8})).build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Mul");
  EXPECT_EQ(r.graph.constant(*r.graph.find_value("b"))->data<float>()[0], 4.0F);
  expect_same_bits(g, r.graph, {{"x", f32({1}, {3})}});
}

TEST(FoldConstants, TransitiveConstantsCountWithoutFolding) {
  Net net(
      "W = Reshape(flat, shape)\nc = Conv(x, W)\ny = BatchNormalization<epsilon=0.0>(c, p, p, p, "
      "p)");
  net.input("x", {1, 1, 1, 1})
      .constant("flat", f32({1}, {2}))
      .constant("shape", i64({1, 1, 1, 1}))
      .constant("p", f32({1}, {1}));
  const FusionResult r = fuse(net.build(), {.mode = "bn"});
  EXPECT_EQ(ops_of(r.graph), "Conv");
}

TEST(FoldConstants, HugeResultsAreNotEvaluated) {  // S-32
  Net of_shape("a = ConstantOfShape(shape)\ny = Add(x, a)");
  expect_declined(of_shape.input("x", {1}).constant("shape", i64({17592186044800})).build(), rule,
                  "the limit is");
  Net tile("a = Tile(k, times)\ny = Add(x, a)");
  expect_declined(tile.input("x", {1})
                      .constant("k", f32({1}, {1}))
                      .constant("times", i64({1000000000}))
                      .build(),
                  rule, "the limit is");
  Net expand("a = Expand(k, shape)\ny = Add(x, a)");
  expect_declined(expand.input("x", {1})
                      .constant("k", f32({1}, {1}))
                      .constant("shape", i64({100000, 100000}))
                      .build(),
                  rule, "the limit is");
}

TEST(FoldConstants, CodesStay) {
  Net net("w = DequantizeLinear(q, s)\nc = Conv(x, w)\ny = Relu(c)");
  net.input("x", {1, 1, 1, 1})
      .constant("q", Tensor::of<std::int8_t>({1, 1, 1, 1}, {5}))
      .constant("s", f32({}, {0.5F}));
  expect_declined(net.build(), rule, "holds the codes");
}

}  // namespace
}  // namespace assay::fold_constants_test
