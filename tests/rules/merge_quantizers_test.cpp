// Rule merge_quantizers: identical quantizers on one value.
#include "tests/fusion/net.h"

namespace assay::merge_quantizers_test {
namespace {

using namespace testing;

constexpr const char* rule = "merge_quantizers";

Net net_of(float second, std::vector<std::string> outputs = {"y"}) {
  Net net(
      "q = QuantizeLinear(x, s, z)\np = QuantizeLinear(x, t, z)\na = DequantizeLinear(q, s, z)\nb "
      "= DequantizeLinear(p, s, z)\ny = Add(a, b)");
  net.input("x", {2})
      .constant("s", f32({}, {0.5F}))
      .constant("t", f32({}, {second}))
      .constant("z", Tensor::scalar<std::uint8_t>(3));
  net.outputs(std::move(outputs));
  return net;
}

TEST(MergeQuantizers, SameNumbersMerge) {
  const Graph g = net_of(0.5F).build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "QuantizeLinear, DequantizeLinear, Add");
  expect_same_bits(g, r.graph, {{"x", f32({2}, {1.2F, -0.4F})}});
}

TEST(MergeQuantizers, Declines) {
  expect_declined(net_of(0.25F).build(), rule,
                  "scale 0.5, zero point 3, codes 0..255 and scale 0.25");
  expect_declined(net_of(0.5F, {"y", "q", "p"}).build(), rule,
                  "'p' and its twin 'q' are both graph outputs");
}

TEST(MergeQuantizers, TheGraphOutputStaysWhicheverComesFirst) {
  for (const std::string kept : {"q", "p"}) {
    const Graph g = net_of(0.5F, {"y", kept}).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "QuantizeLinear, DequantizeLinear, Add") << kept;
    expect_same_bits(g, r.graph, {{"x", f32({2}, {1.2F, -0.4F})}});
  }
}

}  // namespace
}  // namespace assay::merge_quantizers_test
