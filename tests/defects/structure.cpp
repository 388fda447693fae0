// Pairs of graphs that a wrong rewrite would make of each other (the public bug reports behind the
// cases S-01, S-05, S-07, S-12 and others).
#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"
#include "tests/fusion/net.h"

namespace assay::defects {
namespace {

using testing::f32;
using testing::i64;
using testing::Net;

struct Pair {
  std::string original, fused;
  std::vector<std::int64_t> x;
  std::vector<std::string> outputs = {"y"};
};

Tensor drawn(std::uint64_t seed, std::vector<std::int64_t> dims, double low, double high) {
  Random r(seed);
  Tensor t(DType::float32, Shape(std::move(dims)));
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(r.between(low, high));
  return t;
}

/// Every constant that a pair may name, the same on both sides.
Graph built(const std::string& lines, const Pair& p, std::uint64_t seed) {
  const std::int64_t channels = p.x[1];
  Net net(lines, 17);
  net.input("x", p.x);
  const auto uses = [&](const std::string& name) {
    return lines.find(name + ",") != std::string::npos ||
           lines.find(name + ")") != std::string::npos;
  };
  const auto constant = [&](const std::string& name, const Tensor& t) {
    if (uses(name)) net.constant(name, t);
  };
  constant("W", drawn(seed + 1, {channels, channels, 1, 1}, -1, 1));
  constant("W3", drawn(seed + 1, {channels, channels, 3, 3}, -1, 1));
  constant("D", drawn(seed + 2, {channels, 1, 3, 3}, -1, 1));
  constant("K", drawn(seed + 3, {1, channels, 1, 1}, 0.5, 2));
  constant("MK", drawn(seed + 3, {1, channels, 1, 1}, -2, -0.5));
  constant("ROW", drawn(seed + 4, {p.x.back()}, 0.5, 2));
  constant("S", drawn(seed + 5, {p.x.back()}, 0.5, 2));
  constant("T", drawn(seed + 6, {p.x.back()}, -1, 1));
  constant("P1", i64({0, 0, 1, 1, 0, 0, 1, 1}));
  constant("PB", i64({0, 0, 2, 2, 0, 0, 0, 0}));
  constant("qs", Tensor::scalar(0.05F));
  constant("qt", Tensor::scalar(0.07F));
  constant("qz", Tensor::scalar<std::int8_t>(3));
  constant("qy", Tensor::scalar<std::int8_t>(4));
  constant("one", Tensor::scalar(1.0F));
  constant("zero", Tensor::scalar(0.0F));
  constant("six", Tensor::scalar(6.0F));
  return net.outputs(p.outputs).build();
}

Kind pair(const std::string& name, const std::vector<Pair>& pairs) {
  return {name, "file", [=](std::uint64_t seed) {
            std::vector<Case> cases;
            for (const Pair& p : pairs) {
              std::string shape;
              for (const std::int64_t d : p.x)
                shape += (shape.empty() ? "" : "x") + std::to_string(d);
              cases.push_back({shape,
                               built(p.original, p, seed),
                               built(p.fused, p, seed),
                               {},
                               {{"x", drawn(seed + 9, p.x, -2, 2)}}});
            }
            return cases;
          }};
}

Kind both(const std::string& name, const std::string& original, const std::string& fused,
          const std::vector<std::string>& outputs = {"y"}) {
  return pair(name,
              {{original, fused, {1, 3, 4, 4}, outputs}, {original, fused, {2, 4, 5, 6}, outputs}});
}

}  // namespace

std::vector<Kind> structure_kinds() {
  return {
      both("padding_with_one_absorbed", "p = Pad(x, P1, one)\ny = Conv(p, W3)",
           "y = Conv<pads=[1,1,1,1]>(x, W3)"),
      both("padding_at_one_end_absorbed", "p = Pad(x, PB)\ny = Conv(p, W3)",
           "y = Conv<pads=[1,1,1,1]>(x, W3)"),
      both("zero_padding_into_max_pool", "p = Pad(x, P1)\ny = MaxPool<kernel_shape=[3,3]>(p)",
           "y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)"),
      both("padding_into_average_pool", "p = Pad(x, P1)\ny = AveragePool<kernel_shape=[3,3]>(p)",
           "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)"),
      both("average_counts_padding",
           "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(x)",
           "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)"),
      both("negative_scale_behind_clip", "c = Clip(x, zero, six)\ny = Mul(c, MK)",
           "s = Mul(x, MK)\ny = Clip(s, zero, six)"),
      both("relu_behind_negative_scale", "a = Relu(x)\ny = Mul(a, MK)",
           "s = Mul(x, MK)\ny = Relu(s)"),
      both("second_reader_gets_the_fold",
           "c = Conv(x, W)\nb = Mul(c, K)\nr = Relu(c)\ny = Add(b, r)",
           "c = Conv(x, W)\nb = Mul(c, K)\nr = Relu(b)\ny = Add(b, r)"),
      both("row_addend_as_bias", "c = Conv(x, W)\ny = Add(c, ROW)",
           "c = Conv(x, W)\ny = Add(c, K)"),
      both("order_of_scale_and_shift", "m = Mul(x, K)\ny = Add(m, one)",
           "a = Add(x, one)\ny = Mul(a, K)"),
      both("inner_quantizer_dropped",
           "c = Conv(x, W)\nq = QuantizeLinear(c, qs, qz)\nd = DequantizeLinear(q, qs, qz)\na = "
           "Mul(d, K)\ny = QuantizeLinear(a, qt, qz)",
           "c = Conv(x, W)\nm = Mul(c, K)\ny = QuantizeLinear(m, qt, qz)"),
      both("zero_point_off",
           "c = Conv(x, W)\nq = QuantizeLinear(c, qs, qz)\nd = DequantizeLinear(q, qs, qz)\na = "
           "Mul(d, K)\ny = QuantizeLinear(a, qt, qz)",
           "c = Conv(x, W)\nm = Mul(c, K)\ny = QuantizeLinear(m, qt, qy)"),
      both("quantizer_scale_off",
           "c = Conv(x, W)\nq = QuantizeLinear(c, qs, qz)\nd = DequantizeLinear(q, qs, qz)\na = "
           "Mul(d, K)\ny = QuantizeLinear(a, qt, qz)",
           "c = Conv(x, W)\nm = Mul(c, K)\ny = QuantizeLinear(m, qs, qz)"),
      both("dequantizer_zero_point_off",
           "c = Conv(x, W)\nq = QuantizeLinear(c, qs, qz)\nd = DequantizeLinear(q, qs, qz)\na = "
           "Mul(d, K)\ny = QuantizeLinear(a, qt, qz)",
           "c = Conv(x, W)\nq = QuantizeLinear(c, qs, qz)\nd = DequantizeLinear(q, qs, qy)\n"
           "m = Mul(d, K)\ny = QuantizeLinear(m, qt, qz)"),
      both("norm_epsilon", "y = LayerNormalization<epsilon=1e-5>(x, S, T)",
           "y = LayerNormalization<epsilon=1e-3>(x, S, T)"),
      both("norm_without_shift", "y = LayerNormalization(x, S, T)", "y = LayerNormalization(x, S)"),
      both("softmax_axis", "y = Softmax<axis=1>(x)", "y = Softmax<axis=2>(x)"),
      both("leaky_slope", "y = LeakyRelu<alpha=0.01>(x)", "y = LeakyRelu<alpha=0.02>(x)"),
      both("hard_sigmoid_slope", "g = HardSigmoid<alpha=0.16666667>(x)\ny = Mul(x, g)",
           "g = HardSigmoid<alpha=0.2>(x)\ny = Mul(x, g)"),
      both("depthwise_stride", "c = Conv<pads=[1,1,1,1]>(x, W3)\ny = Relu(c)",
           "c = Conv<pads=[2,2,2,2], dilations=[2,2]>(x, W3)\ny = Relu(c)"),
      both("mean_axis", "y = ReduceMean<axes=[2], keepdims=1>(x)\nz = Add(y, y)",
           "y = ReduceMean<axes=[2], keepdims=1>(x)\nz = Sub(y, y)", {"z"}),
  };
}

}  // namespace assay::defects
