// Rule fold_bn_conv: Conv + BatchNormalization -> Conv.
#include "tests/fusion/net.h"

namespace assay {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_conv";

/// Conv with one weight per channel and BN(γ=[2,3], β=1, μ=1, v=1, ε=0): S-03's numbers.
Net two_channels(const std::string& conv, const std::string& bn = "epsilon=0.0") {
  Net net("c = Conv<group=2>(" + conv + ")\ny = BatchNormalization<" + bn + ">(c, g, b, m, v)");
  net.input("x", {1, 2, 1, 1}).constant("W", f32({2, 1, 1, 1}, {1, 1})).constant("B", f32({2}, {5, -5}));
  net.constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, 1}));
  net.constant("m", f32({2}, {1, 1})).constant("v", f32({2}, {1, 1}));
  return net;
}

const Feeds x12 = {{"x", f32({1, 2, 1, 1}, {1, 2})}};

TEST(FoldBnConv, FoldsWithBiasAndKeepsTheOutputName) {
  const Graph g = two_channels("x, W, B").build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  ASSERT_EQ(r.log.fired.size(), 1U);
  EXPECT_EQ(r.log.fired[0].output, "y");
  EXPECT_EQ(r.log.fired[0].vanished, std::vector<std::string>{"c"});
  EXPECT_EQ(r.log.fired[0].inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(floats(run_cr(r.graph, x12).at("y")), (std::vector<float>{11, -11}));
  expect_same_bits(g, r.graph, x12);
}

TEST(FoldBnConv, SecondReaderDeclines) {
  Net net = two_channels("x, W, B");
  net.outputs({"y", "c"});
  expect_declined(net.build(), rule, "inner value 'c' is a graph output");
}

TEST(FoldBnConv, TrainingModeDeclines) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<training_mode=1>(c, p, p, p, p)", 15);
  net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1})).constant("p", f32({1}, {1}));
  expect_declined(net.build(), rule, "training_mode=1");
}

TEST(FoldBnConv, VarianceDeclines) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<epsilon=0.0>(c, p, p, p, z)", 15);
  net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1})).constant("p", f32({1}, {1}));
  net.constant("z", f32({1}, {-1}));
  expect_declined(net.build(), rule, "channel 0 has variance -1");
}

}  // namespace
}  // namespace assay
