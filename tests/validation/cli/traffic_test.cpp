// Bytes that a graph reads and writes operator by operator, counted by hand.
#include "validation/cli/traffic.h"

#include <gtest/gtest.h>

#include "runtime/onnx/reader.h"
#include "tests/fusion/net.h"
#include "tests/support/source_dir.h"

namespace assay::traffic_test {
namespace {

using testing::f32;
using testing::Net;

/// x: 2·4·4·4 = 128 bytes, the convolution's result 3·4·4·4 = 192 bytes.
TEST(Traffic, CountsActivationsOncePerReadingSlot) {
  const Graph g = Net("k = Add(w, w)\nc = Conv(x, k)\ny = Add(c, c)")
                      .input("x", {1, 2, 4, 4})
                      .constant("w", Tensor::zeros(DType::float32, {3, 2, 1, 1}))
                      .build();
  const Traffic t = traffic_of(g);
  EXPECT_EQ(t.calls, 2);  // k is constant
  EXPECT_EQ(t.read, 128 + 2 * 192);
  EXPECT_EQ(t.written, 192 + 192);
  EXPECT_EQ(t.open, 0);
}

TEST(Traffic, OpenShapesAreCountedAsOpen) {
  const Graph g = Net("y = Relu(x)").input("x", {-1, 2}).build();
  EXPECT_EQ(traffic_of(g).open, 2);
  const Traffic t = traffic_of(g, {{"x", Shape{3, 2}}});
  EXPECT_EQ(t.open, 0);
  EXPECT_EQ(t.read, 24);
}

/// Quantizers of weights are constant and no calls; the integer form reads one byte per code.
TEST(Traffic, QuantizedGraphsHaveAnIntegerForm) {
  const Graph g = Net("q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\nw = "
                      "DequantizeLinear(v, s, a)\n"
                      "y = Conv(d, w)")
                      .input("x", {1, 1, 4, 4})
                      .constant("s", f32({}, {0.5F}))
                      .constant("z", Tensor::scalar(std::uint8_t{0}))
                      .constant("a", Tensor::scalar(std::int8_t{0}))
                      .constant("v", Tensor::zeros(DType::int8, {1, 1, 1, 1}))
                      .build();
  const TrafficReport r = measure_traffic(g, {});
  EXPECT_EQ(r.graph.calls, 3);
  EXPECT_EQ(r.graph.read, 64 + 16 + 64);
  EXPECT_EQ(r.graph.written, 16 + 64 + 64);
  ASSERT_TRUE(r.integer.has_value());
  EXPECT_EQ(r.integer->calls, 2);
  EXPECT_EQ(r.integer->read, 64 + 16);
  EXPECT_EQ(r.integer->written, 16 + 64);
}

TEST(Traffic, FloatGraphsHaveNone) {
  EXPECT_FALSE(measure_traffic(Net("y = Relu(x)").input("x", {1}).build(), {}).integer.has_value());
}

/// The numbers of the sequence that datasets/residual/make.py describes.
class Sequence {
 public:
  std::vector<float> fill(std::size_t count, double low, double high) {
    std::vector<float> values(count);
    for (float& v : values) {
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
      v = static_cast<float>(low + (high - low) * (static_cast<double>(state_ >> 40) / 16777216.0));
    }
    return values;
  }

 private:
  std::uint64_t state_ = 1;
};

TEST(ResidualModel, IsWhatItsScriptSays) {
  const Graph g = read_onnx((source_dir() / "datasets/residual/residual.onnx").string());
  EXPECT_EQ(testing::ops_of(g), "Conv, BatchNormalization, Add, Relu");
  const auto order = g.topological_order();
  EXPECT_EQ(g.node(order[0]).attributes.ints_or("pads", {}),
            (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_TRUE(g.node(order[0]).has_input(2)) << "the convolution has its default bias";
  EXPECT_EQ(g.node(order[2]).inputs[1], g.inputs()[0]) << "the skip";
  Sequence sequence;
  const double bound = 1 / std::sqrt(27.0);
  const auto expect = [&](const std::string& name, std::size_t count, double low, double high) {
    EXPECT_EQ(testing::floats(*g.constant(g.find_value(name).value())),
              sequence.fill(count, low, high))
        << name;
  };
  expect("conv.weight", 81, -bound, bound);
  expect("conv.bias", 3, -bound, bound);
  expect("bn.weight", 3, 0.5, 1.5);
  expect("bn.bias", 3, -0.5, 0.5);
  expect("bn.running_mean", 3, -0.25, 0.25);
  expect("bn.running_var", 3, 0.25, 1.0);
}

}  // namespace
}  // namespace assay::traffic_test
