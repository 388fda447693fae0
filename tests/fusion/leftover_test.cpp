// Normalizations that stay although no rule's pattern came near them are reported too.
#include "fusion/leftover.h"

#include "tests/fusion/net.h"

namespace assay::leftover_test {
namespace {

using namespace testing;

Graph net_of(const std::string& front) {
  Net net(front + "y = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");
  net.input(front.empty() ? "c" : "x", {1, 1, 2, 2}).constant("W", f32({1, 1, 1, 1}, {2}));
  net.constant("g", f32({1}, {1})).constant("b", f32({1}, {0})).constant("m", f32({1}, {0}));
  net.constant("v", f32({1}, {1})).constant("k", f32({1}, {3}));
  return net.build();
}

DeclinedRewrite only_decline(const std::string& front, const std::string& mode) {
  const FusionResult r = fuse(net_of(front), {.mode = mode});
  EXPECT_EQ(r.log.declined.size(), 1U) << explain(r.log);
  return r.log.declined.empty() ? DeclinedRewrite{} : r.log.declined.front();
}

TEST(LeftNormalization, SaysWhatStandsInFront) {
  const DeclinedRewrite relu = only_decline("d = Conv(x, W)\nc = Relu(d)\n", "bn");
  EXPECT_EQ(relu.node.output, "y");
  EXPECT_EQ(relu.reason,
            "its input 'c' comes from node 'n_c' (Relu), expected Conv, ConvTranspose, Gemm or "
            "MatMul");
  EXPECT_FALSE(relu.edit.empty());
  EXPECT_NE(only_decline("", "bn").reason.find("'c' is an input of the graph"), std::string::npos);
}

TEST(LeftNormalization, NamesTheRuleThatWouldHelp) {
  EXPECT_EQ(only_decline("d = Conv(x, W)\nc = Add(d, k)\n", "bn").edit,
            "use fold_linear_add too (mode all)");
  EXPECT_EQ(only_decline("d = Relu(x)\nc = Mul(d, k)\n", "fold_bn_conv,fold_linear_mul").edit,
            "make fold_linear_mul apply to node 'n_c' (Mul)");
}

TEST(LeftNormalization, SaysNothingTwiceAndNothingWithoutRules) {
  EXPECT_TRUE(fuse(net_of("c = Conv(x, W)\n"), {.mode = "bn"}).log.declined.empty());
  EXPECT_TRUE(fuse(net_of("c = Relu(x)\n"), {.mode = "none"}).log.declined.empty());
  EXPECT_TRUE(fuse(net_of("c = Relu(x)\n"), {.mode = "fold_pad"}).log.declined.empty());
  // A rule that came near has said why already.
  Net shared("c = Conv(x, W)\ny = BatchNormalization(c, g, b, m, v)\nz = Relu(c)");
  shared.input("x", {1, 1, 2, 2}).constant("W", f32({1, 1, 1, 1}, {2}));
  for (const char* name : {"g", "b", "m", "v"}) shared.constant(name, f32({1}, {1}));
  const FusionResult r = fuse(shared.outputs({"y", "z"}).build(), {.mode = "bn"});
  ASSERT_EQ(r.log.declined.size(), 1U);
  EXPECT_NE(r.log.declined[0].reason.find("also read by"), std::string::npos);
}

}  // namespace
}  // namespace assay::leftover_test
