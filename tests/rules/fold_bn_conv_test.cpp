// Rule fold_bn_conv: Conv + BatchNormalization -> Conv.
#include "tests/fusion/net.h"

namespace assay::fold_bn_conv_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_conv";

constexpr const char* lines =
    "c = Conv<group=2>(x, W, B)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)";

/// Conv with one weight per channel, BN(γ=[2,3], β=1, μ=1, v=1, ε=0): the numbers of S-03. `leave`
/// is not made constant.
Net two_channels(const std::string& text = lines, std::int64_t opset = 13,
                 const std::string& leave = "") {
  Net net(text, opset);
  net.input("x", {1, 2, 1, 1});
  const std::pair<const char*, Tensor> constants[] = {
      {"W", f32({2, 1, 1, 1}, {1, 1})}, {"B", f32({2}, {5, -5})}, {"g", f32({2}, {2, 3})},
      {"b", f32({2}, {1, 1})},          {"m", f32({2}, {1, 1})},  {"v", f32({2}, {1, 1})}};
  for (const auto& [name, tensor] : constants) {
    if (name != leave) net.constant(name, tensor);
  }
  return net;
}

const Feeds x12 = {{"x", f32({1, 2, 1, 1}, {1, 2})}};

TEST(FoldBnConv, FoldsWithBiasAndKeepsTheOutputName) {
  const Graph g = two_channels().build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  ASSERT_EQ(r.log.fired.size(), 1U);
  EXPECT_EQ(r.log.fired[0].output, "y");
  EXPECT_EQ(r.log.fired[0].vanished, std::vector<std::string>{"c"});
  EXPECT_EQ(r.log.fired[0].inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(r.log.fired[0].constants, (std::vector<std::string>{"W_folded", "B_folded"}));
  EXPECT_EQ(floats(run_cr(r.graph, x12).at("y")), (std::vector<float>{11, -11}));
  expect_same_bits(g, r.graph, x12);
}

TEST(FoldBnConv, DepthwiseAndOneAndThreeDimensions) {
  for (const std::int64_t rank : {3, 4, 5}) {
    std::vector<std::int64_t> x(static_cast<std::size_t>(rank), 3);
    std::vector<std::int64_t> w(static_cast<std::size_t>(rank), 2);
    x[1] = 4;
    w[0] = 8, w[1] = 1;
    Net net("c = Conv<group=4>(x, W)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
    net.input("x", x)
        .constant("W", grid(Shape(w), 1))
        .constant("g", f32({8}, {1, 2, -1, 4, 0.5, 0, 2, 1}));
    net.constant("b", grid({8}, 2))
        .constant("m", grid({8}, 3))
        .constant("v", f32({8}, {1, 4, 1, 16, 1, 4, 1, 1}));
    const Graph g = net.build();
    const FusionResult r = fuse(g, {.mode = "bn"});
    EXPECT_EQ(ops_of(r.graph), "Conv");
    expect_same_bits(g, r.graph,
                     {{"x", grid(Shape(x), 4)}});  // every number is a short dyadic: nothing rounds
  }
}

TEST(FoldBnConv, EveryOpsetFolds) {
  for (const std::int64_t opset : {1, 6, 7, 9, 14, 15}) {
    EXPECT_EQ(fuse(two_channels(lines, opset).build(), {.mode = rule}).log.fired.size(), 1U)
        << opset;
  }
}

TEST(FoldBnConv, Float64FoldsInFloat64) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
  net.input("x", {1, 1, 1, 1}, DType::float64)
      .constant("W", f64({1, 1, 1, 1}, {0.1}))
      .constant("g", f64({1}, {3}));
  net.constant("b", f64({1}, {0})).constant("m", f64({1}, {0})).constant("v", f64({1}, {1}));
  const FusionResult r = fuse(net.build(), {.mode = rule});
  const Graph& g = r.graph;
  EXPECT_EQ(g.constant(*g.find_value("W_folded"))->data<double>()[0],
            0.30000000000000004);  // fl(3·0.1)
}

TEST(FoldBnConv, InnerValueNeededElsewhereDeclines) {
  expect_declined(two_channels().outputs({"y", "c"}).build(), rule,
                  "inner value 'c' is a graph output");
  expect_declined(two_channels(std::string(lines) + "\nr = Relu(c)").outputs({"y", "r"}).build(),
                  rule, "inner value 'c' is also read by node 'n_r' (Relu)");
}

TEST(FoldBnConv, WeightThatMayNotChangeDeclines) {
  Net fed = two_channels(lines, 13, "W");
  expect_declined(fed.overridable("W", f32({2, 1, 1, 1}, {1, 1})).build(), rule,
                  "may feed another");
  Net open = two_channels(lines, 13, "W");
  expect_declined(open.input("W", {2, 1, 1, 1}).build(), rule, "weight 'W' is not constant");
  Net shared = two_channels(std::string(lines) + "\nd = Conv<group=2>(x, W)");
  expect_declined(shared.outputs({"y", "d"}).build(), rule,
                  "weight 'W' is shared: it has 2 readers");
}

TEST(FoldBnConv, ParametersDecline) {
  Net open = two_channels(lines, 13, "g");
  expect_declined(open.input("g", {2}).build(), rule,
                  "parameter 'g' of BatchNormalization is not constant");
  Net fed = two_channels(lines, 13, "m");
  expect_declined(fed.overridable("m", f32({2}, {1, 1})).build(), rule, "parameter 'm'");
  Net length = two_channels(lines, 13, "v");
  expect_declined(length.constant("v", f32({1}, {1})).build(), rule,
                  "has shape [1], the operator in front has 2 channels");
  Net dtype = two_channels(lines, 13, "W");
  expect_declined(dtype.constant("W", convert(f32({2, 1, 1, 1}, {1, 1}), DType::float16)).build(),
                  rule, "is float16");
}

TEST(FoldBnConv, TrainingModeAndExtraOutputsDecline) {
  const std::string conv = "c = Conv<group=2>(x, W, B)\n";
  expect_declined(
      two_channels(conv + "y = BatchNormalization<training_mode=1>(c, g, b, m, v)", 15).build(),
      rule, "training_mode=1");
  expect_declined(two_channels(conv + "y, mean, var = BatchNormalization(c, g, b, m, v)", 9)
                      .outputs({"y"})
                      .build(),
                  rule, "extra outputs ('mean')");
  expect_declined(
      two_channels(conv + "y = BatchNormalization<spatial=0>(c, g, b, m, v)", 7).build(), rule,
      "spatial=0");
}

TEST(FoldBnConv, NumbersThatCannotBeFoldedDecline) {
  Net negative = two_channels(lines, 13, "v");
  expect_declined(negative.constant("v", f32({2}, {1, -1})).build(), rule,
                  "channel 1 has variance -1");
  Net zero = two_channels(lines, 13, "v");
  expect_declined(zero.constant("v", f32({2}, {0, 1})).build(), rule, "channel 0 has variance 0");
  Net huge = two_channels(lines, 13, "W");
  expect_declined(huge.constant("W", f32({2, 1, 1, 1}, {3e38F, 1})).build(), rule, "is not finite");
}

TEST(FoldBnConv, SkipsByNodeRuleAndPattern) {
  for (const std::string skip : {"n_c", "y", "fold_bn_conv", "n_*", "fold_bn_*"}) {
    const FusionResult r = fuse(two_channels().build(), {.mode = "all", .skip = {skip}});
    EXPECT_EQ(ops_of(r.graph), "Conv, BatchNormalization") << skip;
    EXPECT_NE(reason(r.log, rule).find("skipped by request"), std::string::npos);
  }
  EXPECT_THROW(fuse(two_channels().build(), {.mode = "all", .skip = {"no_such_node"}}), Error);
}

}  // namespace
}  // namespace assay::fold_bn_conv_test
