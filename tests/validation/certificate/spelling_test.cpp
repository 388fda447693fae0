// Spellings that mean the same: relative axes, broadcasting before opset 7, auto_pad, defaults.
#include <gtest/gtest.h>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay::spelling_test {
namespace {

using namespace testing;

/// The worst verdict on what `rule` makes of the graph, which has to fire.
std::string verdict_of(const Graph& o, const std::string& rule, const std::vector<Feeds>& samples) {
  const FusionResult r = fuse(o, {.mode = rule});
  EXPECT_GT(r.log.count(rule), 0) << explain(r.log);
  std::string worst = "none";
  for (const auto& c : certify(o, r.graph, &r.log, {.samples = samples, .kernels = false}).fusions)
    worst = worst == "none" ? c.verdict : std::max(worst, c.verdict);
  return worst;
}

TEST(Spelling, BranchesOfASplitWithARelativeAxis) {
  Net net(
      "p, q = Split<axis=-3>(x, halves)\nc = Conv(p, W)\nd = Conv(q, V)\ny = Concat<axis=-3>(c, "
      "d)");
  net.input("x", {1, 2, 1, 3}).constant("halves", i64({1, 1}));
  net.constant("W", f32({2, 1, 1, 1}, {3, 5})).constant("V", f32({2, 1, 1, 1}, {7, 11}));
  EXPECT_EQ(verdict_of(net.build(), "merge_split_conv", {{{"x", grid({1, 2, 1, 3}, 1)}}}), "E1");
}

TEST(Spelling, AnOperandOfOldOpsetsLiesAtItsAxis) {
  Net net("c = Conv(x, W)\ny = Add<axis=1, broadcast=1>(c, k)", 6);
  net.input("x", {1, 1, 2, 3}).constant("W", f32({3, 1, 1, 1}, {1, 2, 3}));
  net.constant("k", f32({3}, {10, 20, 30}));
  EXPECT_EQ(verdict_of(net.build(), "fold_linear_add", {{{"x", grid({1, 1, 2, 3}, 1)}}}), "E1");
}

TEST(Spelling, AComputedOperandOfOldOpsetsToo) {
  Net net("k = Neg(n)\nc = Conv(x, W)\ny = Add<axis=1, broadcast=1>(c, k)", 6);
  net.input("x", {1, 1, 2, 3}).constant("W", f32({3, 1, 1, 1}, {1, 2, 3}));
  net.constant("n", f32({3}, {10, 20, 30}));
  EXPECT_EQ(verdict_of(net.build(), "fold_linear_add", {{{"x", grid({1, 1, 2, 3}, 1)}}}), "E1");
}

TEST(Spelling, AnOperandAtAnotherAxisIsAnotherFunction) {
  Net at1("y = Add<axis=1, broadcast=1>(x, k)", 6);
  Net at2("y = Add<axis=2, broadcast=1>(x, k)", 6);
  for (Net* net : {&at1, &at2}) net->input("x", {1, 2, 2}).constant("k", f32({2}, {1, 2}));
  const auto list = certify(at1.build(), at2.build(), nullptr,
                            {.samples = {{{"x", grid({1, 2, 2}, 1)}}}, .kernels = false})
                        .fusions;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E5") << list[0].reason;
}

TEST(Spelling, AutoPadValidIsNoPadding) {
  Net net("r = Relu(x)\nn = BatchNormalization(r, g, b, m, v)\ny = Conv<auto_pad=\"VALID\">(n, W)");
  net.input("x", {1, 1, 2, 3}).constant("W", f32({1, 1, 1, 2}, {0.3F, 0.7F}));
  net.constant("g", f32({1}, {1.3F})).constant("b", f32({1}, {0.7F}));
  net.constant("m", f32({1}, {0.2F})).constant("v", f32({1}, {0.9F}));
  EXPECT_EQ(verdict_of(net.build(), "fold_bn_forward", {{{"x", grid({1, 1, 2, 3}, 1)}}}), "E2");
}

TEST(Spelling, WhatAFusedOperatorStatesAlthoughItIsTheDefault) {
  Net gemm("c = Gemm(x, W, C)\ny = Relu(c)");
  gemm.input("x", {2, 2}).input("C", {2, 1}).constant("W", f32({2, 2}, {1, 2, 3, 4}));
  const Feeds feeds{{"x", grid({2, 2}, 1)}, {"C", grid({2, 1}, 2)}};
  EXPECT_EQ(verdict_of(gemm.build(), "fuse_linear_activation", {feeds}), "E0");
  Net up("c = ConvTranspose(x, W, B)\ny = Relu(c)");
  up.input("x", {1, 1, 2, 2}).input("B", {1}).constant("W", f32({1, 1, 1, 1}, {3}));
  EXPECT_EQ(verdict_of(up.build(), "fuse_linear_activation",
                       {{{"x", grid({1, 1, 2, 2}, 1)}, {"B", grid({1}, 2)}}}),
            "E0");
}

TEST(Spelling, PaddingInFrontOfAConvWhoseWeightsAreFed) {
  Net net("p = Pad(x, pads)\ny = Conv(p, W)");
  net.input("x", {1, 1, 2, 2}).input("W", {1, 1, 2, 2});
  net.constant("pads", i64({0, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(verdict_of(net.build(), "fold_pad",
                       {{{"x", grid({1, 1, 2, 2}, 1)}, {"W", grid({1, 1, 2, 2}, 2)}}}),
            "E1");
}

}  // namespace
}  // namespace assay::spelling_test
