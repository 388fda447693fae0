// Rule fuse_linear_silu: x·Sigmoid(x) into the operator in front.
#include "tests/fusion/net.h"

namespace assay::fuse_linear_silu_test {
namespace {

using namespace testing;

constexpr const char* rule = "fuse_linear_silu";

Net conv(const std::string& rest, std::int64_t opset = 14) {
  Net net("c = Conv<pads=[1,1,1,1]>(x, W, B)\n" + rest, opset);
  net.input("x", {1, 2, 3, 3})
      .input("r", {1, 2, 3, 3})
      .constant("W", grid({2, 2, 3, 3}, 1))
      .constant("B", grid({2}, 2));
  return net;
}
const Feeds feeds = {{"x", grid({1, 2, 3, 3}, 3)}, {"r", grid({1, 2, 3, 3}, 4)}};

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
