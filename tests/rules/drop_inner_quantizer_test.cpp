// Rule drop_inner_quantizer: only by name, because it drops a rounding (E3).
#include "tests/fusion/net.h"

namespace assay::drop_inner_quantizer_test {
namespace {

using namespace testing;

constexpr const char* rule = "drop_inner_quantizer";

Net net_of(float second = 0.5F) {
  Net net(
      "c = Conv(x, W)\nq = QuantizeLinear(c, s, z)\nd = DequantizeLinear(q, t, z)\na = Add(d, "
      "r)\ny = Relu(a)");
  net.input("x", {1, 1, 1, 1})
      .input("r", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {1}))
      .constant("s", f32({}, {0.5F}));
  net.constant("t", f32({}, {second})).constant("z", Tensor::scalar<std::int8_t>(0));
  return net;
}

TEST(DropInnerQuantizer, ChangesTheValueByLessThanHalfAStep) {
  const Graph g = net_of().build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv, Add, Relu");
  EXPECT_EQ(r.log.fired[0].verdict, "E3");
  const Feeds feeds = {{"x", f32({1, 1, 1, 1}, {1.2F})}, {"r", f32({1, 1, 1, 1}, {1})}};
  EXPECT_EQ(floats(run_cr(g, feeds).at("y")), std::vector<float>{2});  // 1.2 -> code 2 -> 1.0
  EXPECT_EQ(floats(run_cr(r.graph, feeds).at("y")), std::vector<float>{2.2F});
}

TEST(DropInnerQuantizer, InNoMode) {
  EXPECT_EQ(fuse(net_of().build(), {.mode = "all"}).log.count(rule), 0);
  const Graph fused = fuse(net_of().build(),
                           {.mode = "drop_inner_quantizer,fuse_linear_add,fuse_linear_activation"})
                          .graph;
  EXPECT_EQ(ops_of(fused), "ai.assay.ConvAddRelu");
}

TEST(DropInnerQuantizer, Declines) {
  expect_declined(net_of(0.25F).build(), rule, "writes scale 0.5");
}

}  // namespace
}  // namespace assay::drop_inner_quantizer_test
