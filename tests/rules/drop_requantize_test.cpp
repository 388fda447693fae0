// Rule drop_requantize: dequantize and quantize with the same numbers.
#include "tests/fusion/net.h"

namespace assay::drop_requantize_test {
namespace {

using namespace testing;

constexpr const char* rule = "drop_requantize";

Net net_of(float second) {
  Net net(
      "q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\np = QuantizeLinear(d, t, z)\ny "
      "= DequantizeLinear(p, t, z)");
  net.input("x", {256})
      .constant("s", f32({}, {0.1F}))
      .constant("t", f32({}, {second}))
      .constant("z", Tensor::scalar<std::uint8_t>(77));
  return net;
}

TEST(DropRequantize, AllCodesSurvive) {
  Tensor x(DType::float32, Shape{256});
  for (int i = 0; i < 256; ++i)
    x.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i - 77) * 0.1F;
  const Graph g = net_of(0.1F).build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "QuantizeLinear, DequantizeLinear");
  expect_same_bits(g, r.graph, {{"x", x}});
}

TEST(DropRequantize, OtherReadersKeepTheDequantizedValue) {
  Net net(
      "q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\np = QuantizeLinear(d, s, z)\ny "
      "= DequantizeLinear(p, s, z)\nr = Relu(d)");
  net.input("x", {2}).constant("s", f32({}, {0.1F}));
  net.constant("z", Tensor::scalar<std::uint8_t>(7)).outputs({"y", "r"});
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(r.log.fired.size(), 1U);
  expect_same_bits(g, r.graph, {{"x", f32({2}, {1.2F, -0.4F})}});
}

TEST(DropRequantize, OtherScaleDeclines) {
  expect_declined(net_of(0.2F).build(), rule, "requantized from scale");
}

}  // namespace
}  // namespace assay::drop_requantize_test
