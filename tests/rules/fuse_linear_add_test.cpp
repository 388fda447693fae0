// Rule fuse_linear_add: the residual addition.
#include "tests/fusion/residual_conv.h"

namespace assay::fuse_linear_add_test {
namespace {

using namespace testing;

constexpr const char* rule = "fuse_linear_add";

TEST(FuseLinearAdd, EitherSide) {
  for (const std::string last : {"y = Add(c, r)", "y = Add(r, c)"}) {
    const Graph g = conv(last).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "ai.assay.ConvAdd");
    expect_same_bits(g, r.graph, feeds);
  }
}

TEST(FuseLinearAdd, UnknownBatchIsEqualByName) {
  Net net("c = Conv(x, W)\nd = Conv(x, V)\ne = Relu(d)\ny = Add(c, e)");
  net.input("x", {-1, 1, 4, 4})
      .constant("W", grid({1, 1, 1, 1}, 1))
      .constant("V", grid({1, 1, 1, 1}, 2));
  EXPECT_EQ(fuse(net.build(), {.mode = rule}).log.fired.size(), 1U);
}

TEST(FuseLinearAdd, Declines) {
  Net small("c = Conv(x, W)\ny = Add(c, r)");
  small.input("x", {1, 1, 2, 2}).input("r", {1, 1, 1, 1}).constant("W", grid({1, 1, 1, 1}, 1));
  expect_declined(small.build(), rule, "not known to have equal shapes");
  expect_declined(conv("y = Add(c, r)").outputs({"y", "c"}).build(), rule, "graph output");
  EXPECT_TRUE(
      fuse(conv("y = Add(c, c)").input("unused", {1}).build(), {.mode = rule}).log.fired.empty());
}

}  // namespace
}  // namespace assay::fuse_linear_add_test
