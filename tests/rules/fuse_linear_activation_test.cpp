// Rule fuse_linear_activation: the activation into the operator in front, with and without a
// residual.
#include "tests/fusion/residual_conv.h"

namespace assay::fuse_linear_activation_test {
namespace {

using namespace testing;

constexpr const char* rule = "fuse_linear_activation";

TEST(FuseLinearActivation, EveryActivation) {
  const std::pair<const char*, const char*> acts[] = {
      {"Relu(c)", "ConvRelu"},
      {"Clip(c, zero, six)", "ConvClip"},
      {"Clip(c, _, six)", "ConvClip"},
      {"HardSwish(c)", "ConvHardSwish"},
      {"Sigmoid(c)", "ConvSigmoid"},
      {"Tanh(c)", "ConvTanh"},
      {"LeakyRelu<alpha=0.5>(c)", "ConvLeakyRelu"},
      {"HardSigmoid<alpha=0.25>(c)", "ConvHardSigmoid"},
      {"Elu<alpha=2.0>(c)", "ConvElu"}};
  for (const auto& [text, type] : acts) {
    const Graph g = conv(std::string("y = ") + text)
                        .constant("zero", f32({}, {0}))
                        .constant("six", f32({}, {6}))
                        .build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), std::string("ai.assay.") + type);
    expect_same_bits(g, r.graph, feeds);
  }
}

TEST(FuseLinearActivation, BehindAResidualAndBatchNorm) {
  Net net = conv("n = BatchNormalization<epsilon=0.0>(c, g, b, m, v)\na = Add(n, r)\ny = Relu(a)");
  net.constant("g", f32({2}, {2, 1}))
      .constant("b", f32({2}, {0, 1}))
      .constant("m", f32({2}, {1, 0}))
      .constant("v", f32({2}, {1, 4}));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = "bn-add-relu"});
  EXPECT_EQ(ops_of(r.graph), "ai.assay.ConvAddRelu");
  expect_same_bits(g, r.graph, feeds);
  EXPECT_EQ(ops_of(fuse(g, {.mode = "bn"}).graph), "Conv, Add, Relu");
  EXPECT_EQ(ops_of(fuse(g, {.mode = "none"}).graph), "Conv, BatchNormalization, Add, Relu");
}

TEST(FuseLinearActivation, GemmMatMulAndConvTranspose) {
  for (const std::string op : {"Gemm", "MatMul"}) {
    Net net("c = " + op + "(x, W)\ny = Relu(c)");
    net.input("x", {2, 2}).constant("W", grid({2, 2}, 1));
    const Graph g = net.build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "ai.assay." + op + "Relu");
    expect_same_bits(g, r.graph, {{"x", grid({2, 2}, 2)}});
  }
  Net net("c = ConvTranspose<strides=[2,2]>(x, W)\ny = Relu(c)");
  net.input("x", {1, 2, 2, 2}).constant("W", grid({2, 2, 2, 2}, 1));
  const Graph g = net.build();
  expect_same_bits(g, fuse(g, {.mode = rule}).graph, {{"x", grid({1, 2, 2, 2}, 2)}});
}

TEST(FuseLinearActivation, NumbersNeedAFunctionOfOpset12AndFloat32) {
  // A function hands its attributes on by Constant nodes, whose value_float is of opset 12.
  expect_declined(conv("y = Clip<max=6.0>(c)", 10).build(), rule, "cannot be written at opset 10");
  Net wide("c = Conv(x, W)\ny = LeakyRelu(c)");
  wide.input("x", {1, 1, 1, 1}, DType::float64).constant("W", f64({1, 1, 1, 1}, {2}));
  expect_declined(wide.build(), rule, "a fused LeakyRelu has float32 numbers, 'y' is float64");
}

TEST(FuseLinearActivation, Declines) {
  expect_declined(conv("y = Relu(c)").outputs({"y", "c"}).build(), rule, "graph output");
  expect_declined(conv("y = Clip(c, lo)").input("lo", {}).build(), rule,
                  "Clip bound 'lo' is not constant");
  expect_declined(conv("y = Clip(c, lo)").constant("lo", f32({2}, {0, 1})).build(), rule,
                  "expected a scalar");
  const FusionResult r = fuse(conv("y = Tanh(c)").build(), {.mode = "bn-add-relu"});
  EXPECT_NE(reason(r.log, rule).find("ReLU and Clip only"), std::string::npos);
  Net shape("c = ConvTranspose<output_shape=[4,4]>(x, W)\ny = Relu(c)");
  shape.input("x", {1, 1, 2, 2}).constant("W", grid({1, 1, 2, 2}, 1));
  expect_declined(shape.build(), rule, "output_shape");
}

}  // namespace
}  // namespace assay::fuse_linear_activation_test
