// Rule fuse_add_activation: Add + ReLU or another activation.
#include "tests/fusion/net.h"

namespace assay::fuse_add_activation_test {
namespace {

using namespace testing;

constexpr const char* rule = "fuse_add_activation";

Net net_of(const std::string& last, std::vector<std::int64_t> second = {1, 2}) {
  Net net("s = Add(a, b)\n" + last);
  net.input("a", {1, 2}).input("b", second);
  return net;
}
const Feeds feeds = {{"a", f32({1, 2}, {1, -5})}, {"b", f32({1, 2}, {2, 3})}};

TEST(FuseAddActivation, ReluAndClip) {
  for (const auto& [last, type] : {std::pair<std::string, std::string>{"y = Relu(s)", "AddRelu"},
                                   {"y = Clip(s, lo)", "AddClip"}}) {
    const Graph g = net_of(last).constant("lo", f32({}, {0})).build();
    const FusionResult r = fuse(g, {.mode = "bn-add-relu"});
    EXPECT_EQ(ops_of(r.graph), "ai.assay." + type);
    EXPECT_EQ(floats(run_cr(r.graph, feeds).at("y")), (std::vector<float>{3, 0}));
    expect_same_bits(g, r.graph, feeds);
  }
}

TEST(FuseAddActivation, Declines) {
  expect_declined(net_of("y = Relu(s)", {1, 1}).build(), rule, "not known to be equal");
  expect_declined(net_of("y = Relu(s)").outputs({"y", "s"}).build(), rule, "graph output");
  Net ints("s = Add(a, b)\ny = Relu(s)", 14);
  ints.input("a", {2}, DType::int32).input("b", {2}, DType::int32);
  expect_declined(ints.build(), rule, "expected a float type");
  Net bias("s = Add(a, k)\ny = Relu(s)");
  bias.input("a", {2}).constant("k", f32({2}, {1, 1}));
  EXPECT_TRUE(fuse(bias.build(), {.mode = rule}).log.fired.empty());
}

}  // namespace
}  // namespace assay::fuse_add_activation_test
