// Rule fold_bn_gemm: with transB, alpha and beta, and every bias form.
#include "tests/fusion/net.h"

namespace assay::fold_bn_gemm_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_gemm";

Net net_of(const std::string& attributes, const Tensor& w, const Tensor& bias) {
  Net net("c = Gemm" + attributes +
          "(x, W, B)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
  net.input("x", {2, 2})
      .constant("W", w)
      .constant("B", bias)
      .constant("g", f32({2}, {2, -3}))
      .constant("b", f32({2}, {1, 2}));
  net.constant("m", f32({2}, {1, 4})).constant("v", f32({2}, {4, 1}));
  return net;
}
const Feeds x = {{"x", f32({2, 2}, {1, 2, 3, 4})}};

TEST(FoldBnGemm, TransposedAndNot) {
  // transB = 0: c = x·W + B = [[1+6, 2+8], ...] = [[7+5, 10-5], ...]; the square weight hides a
  // wrong axis.
  const Graph plain = net_of("", f32({2, 2}, {1, 2, 3, 4}), f32({2}, {5, -5})).build();
  FusionResult r = fuse(plain, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Gemm");
  EXPECT_EQ(floats(run_cr(r.graph, x).at("y")), (std::vector<float>{12, -1, 20, -37}));
  expect_same_bits(plain, r.graph, x);
  const Graph turned = net_of("<transB=1>", f32({2, 2}, {1, 3, 2, 4}), f32({2}, {5, -5})).build();
  r = fuse(turned, {.mode = rule});
  EXPECT_EQ(floats(run_cr(r.graph, x).at("y")), (std::vector<float>{12, -1, 20, -37}));
}

TEST(FoldBnGemm, AlphaBetaAndBiasForms) {
  for (const Tensor& bias : {f32({1, 2}, {5, -5}), f32({1}, {3}), f32({}, {3}), f32({2}, {1, 2})}) {
    const Graph g = net_of("<alpha=0.5, beta=2.0>", f32({2, 2}, {1, 2, 3, 4}), bias).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Gemm");
    expect_same_bits(g, r.graph, x);
  }
}

TEST(FoldBnGemm, BiasPerRowDeclines) {
  expect_declined(net_of("", f32({2, 2}, {1, 2, 3, 4}), f32({2, 1}, {5, -5})).build(), rule,
                  "bias 'B' has shape [2, 1]");
}

TEST(FoldBnGemm, NotInAmctOnnx) {
  const Graph g = net_of("", f32({2, 2}, {1, 2, 3, 4}), f32({2}, {5, -5})).build();
  EXPECT_TRUE(fuse(g, {.mode = "amct-onnx"}).log.fired.empty());
  EXPECT_EQ(fuse(g, {.mode = "amct-caffe"}).log.fired.size(), 1U);
}

}  // namespace
}  // namespace assay::fold_bn_gemm_test
