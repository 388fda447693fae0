// Rule fuse_linear_silu: x·Sigmoid(x) into the operator in front.
#include "tests/fusion/residual_conv.h"

namespace assay::fuse_linear_silu_test {
namespace {

using namespace testing;

constexpr const char* rule = "fuse_linear_silu";

TEST(FuseLinearSilu, ConvAndResidual) {
  const Graph plain = conv("s = Sigmoid(c)\ny = Mul(c, s)").build();
  FusionResult r = fuse(plain, {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), "ai.assay.ConvSilu");
  expect_same_bits(plain, r.graph, feeds);
  const Graph residual = conv("a = Add(c, r)\ns = Sigmoid(a)\ny = Mul(s, a)").build();
  r = fuse(residual, {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), "ai.assay.ConvAddSilu");
  expect_same_bits(residual, r.graph, feeds);
}

TEST(FuseLinearSilu, Declines) {
  expect_declined(conv("s = Sigmoid(c)\ny = Mul(c, s)").outputs({"y", "s"}).build(), rule,
                  "'s' is a graph output");
  expect_declined(conv("s = Sigmoid(c)\ny = Mul(c, s)\nz = Relu(c)").outputs({"y", "z"}).build(),
                  rule, "also read by node 'n_z'");
}

}  // namespace
}  // namespace assay::fuse_linear_silu_test
