// Rule drop_activation_before_quantizer: S-21 and its variations.
#include "tests/fusion/net.h"

namespace assay::drop_activation_before_quantizer_test {
namespace {

using namespace testing;

constexpr const char* rule = "drop_activation_before_quantizer";

template <class T>
Net net_of(const std::string& act, float scale, T zero) {
  Net net("r = " + act + "\nq = QuantizeLinear(r, s, z)");
  net.input("x", {2}).constant("s", f32({}, {scale})).constant("z", Tensor::scalar<T>(zero));
  net.constant("zero", f32({}, {0})).constant("six", f32({}, {6})).constant("one", f32({}, {1}));
  return net;
}

template <class T>
std::vector<int> codes(const Graph& g, std::vector<float> x) {
  const Tensor q = run_cr(g, {{"x", f32({2}, std::move(x))}}).at("q");
  const auto d = q.template data<T>();
  return {d.begin(), d.end()};
}

using U8 = std::uint8_t;
using I8 = std::int8_t;

TEST(DropActivationBeforeQuantizer, S21) {
  const Graph a = net_of<I8>("Relu(x)", 2.0F / 127, 0).build();
  EXPECT_EQ(codes<I8>(fuse(a).graph, {-1, 2}), (std::vector<int>{0, 127}));
  expect_declined(a, rule, "lowest code does not stand for 0");
  const Graph b = net_of<U8>("Relu(x)", 0.1F, 20).build();
  EXPECT_EQ(codes<U8>(fuse(b).graph, {-1, 2}), (std::vector<int>{20, 40}));
  expect_declined(b, rule, "zero point 20");
  const Graph c = net_of<U8>("Relu(x)", 2.0F / 255, 0).build();
  EXPECT_EQ(ops_of(fuse(c, {.mode = rule}).graph), "QuantizeLinear");
  EXPECT_EQ(codes<U8>(fuse(c).graph, {-1, 2}), (std::vector<int>{0, 255}));
  const Graph d = net_of<I8>("Clip(x, zero, six)", 2.0F / 127, 0).build();
  EXPECT_EQ(codes<I8>(fuse(d).graph, {-1, 2}), (std::vector<int>{0, 127}));
  EXPECT_EQ(ops_of(fuse(d, {.mode = rule}).graph),
            "Relu, QuantizeLinear");  // the top saturates, the bottom does not
  EXPECT_EQ(codes<I8>(fuse(d, {.mode = rule}).graph, {-1, 9}), (std::vector<int>{0, 127}));
}

TEST(DropActivationBeforeQuantizer, ClipGoesWhenBothEndsSaturate) {
  EXPECT_EQ(
      ops_of(fuse(net_of<U8>("Clip(x, zero, six)", 6.0F / 255, 0).build(), {.mode = rule}).graph),
      "QuantizeLinear");
  EXPECT_EQ(
      ops_of(
          fuse(net_of<I8>("Clip(x, zero, six)", 6.0F / 255, -128).build(), {.mode = rule}).graph),
      "QuantizeLinear");
  expect_declined(net_of<U8>("Clip(x, zero, six)", 0.1F, 0).build(), rule,
                  "does not saturate at the upper bound 6");
  expect_declined(net_of<U8>("Clip(x, one, six)", 6.0F / 255, 0).build(), rule,
                  "does not stand for 1");
}

TEST(DropActivationBeforeQuantizer, EveryCodeIsTheSame) {
  const Graph g = net_of<U8>("Clip(x, zero, six)", 6.0F / 255, 0).build();
  const Graph fused = fuse(g, {.mode = rule}).graph;
  for (int i = -100; i < 1000; ++i) {
    const std::vector<float> x = {static_cast<float>(i) * 0.01F,
                                  static_cast<float>(i) * 0.0117647F};
    EXPECT_EQ(codes<U8>(g, x), codes<U8>(fused, x));
  }
}

TEST(DropActivationBeforeQuantizer, OthersDecline) {
  expect_declined(net_of<U8>("Relu(x)", 0.1F, 0).outputs({"q", "r"}).build(), rule, "graph output");
  Net open("r = Relu(x)\nq = QuantizeLinear(r, s)");
  expect_declined(open.input("x", {2}).input("s", {}).build(), rule,
                  "scale of node 'n_q' (QuantizeLinear) is not constant");
}

}  // namespace
}  // namespace assay::drop_activation_before_quantizer_test
