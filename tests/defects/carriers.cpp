#include "tests/defects/carriers.h"

#include <cmath>

#include "tests/fusion/net.h"

namespace assay::defects {
namespace {

using testing::f32;
using testing::Net;

Tensor vector_of(const std::vector<float>& v) {
  return f32(Shape{static_cast<std::int64_t>(v.size())}, v);
}

/// The operator's line: its inputs are x, W and, with a bias, B.
std::string line(const Carrier& c, const std::string& out, bool bias) {
  return out + " = " + c.op + c.attributes + "(x, W" + (bias ? ", B" : "") + ")\n";
}

Net net_of(const Carrier& c, const std::string& lines, const std::vector<float>& w,
           const std::vector<float>& b) {
  Net net(lines);
  net.input("x", c.x);
  if (c.reads_residual) net.input("r", c.y);
  net.constant("W", f32(Shape(c.w), w));
  if (!b.empty()) net.constant("B", vector_of(b));
  return net;
}

std::string ending(const Carrier& c) { return c.behind.empty() ? "y = Identity(b0)\n" : c.behind; }

struct Channel {
  float gamma, beta, mean, var, bias, epsilon;
};

/// Scale of a channel, recipe by recipe.
float scale_of(const Channel& k, int recipe) {
  const float root = std::sqrt(k.var + k.epsilon);
  switch (recipe) {
    case 1:
    case 2:
    case 8:
      return k.gamma * (1.0F / root);
    case 6:
      return static_cast<float>(
          static_cast<double>(k.gamma) /
          std::sqrt(static_cast<double>(k.var) + static_cast<double>(k.epsilon)));
    case 7:
      return k.gamma / static_cast<float>(
                           std::sqrt(static_cast<double>(k.var) + static_cast<double>(k.epsilon)));
    default:
      return k.gamma / root;
  }
}

float bias_of(const Channel& k, int recipe) {
  const float s = scale_of(k, recipe);
  const float inverse = 1.0F / std::sqrt(k.var + k.epsilon);
  switch (recipe) {
    case 2:  // factor by factor, as PyTorch does
      return (k.bias - k.mean) * inverse * k.gamma + k.beta;
    case 3:
      return k.bias * s + (k.beta - k.mean * s);
    case 4:
      return std::fma(k.bias - k.mean, s, k.beta);
    case 8:
      return k.beta - (k.mean - k.bias) * s;
    default:
      return (k.bias - k.mean) * s + k.beta;
  }
}

Constants in_double(const Carrier& c, const Parameters& p) {
  Constants k;
  std::vector<double> s;
  for (std::size_t i = 0; i < p.gamma.size(); ++i) {
    s.push_back(static_cast<double>(p.gamma[i]) /
                std::sqrt(static_cast<double>(p.var[i]) + p.epsilon));
    const double b = p.b.empty() ? 0.0 : static_cast<double>(p.b[i]);
    k.b.push_back(static_cast<float>((b - static_cast<double>(p.mean[i])) * s[i] +
                                     static_cast<double>(p.beta[i])));
  }
  for (std::size_t i = 0; i < p.w.size(); ++i) {
    const auto channel = static_cast<std::size_t>(c.channel_of(static_cast<std::int64_t>(i)));
    k.w.push_back(static_cast<float>(static_cast<double>(p.w[i]) * s[channel]));
  }
  return k;
}

}  // namespace

std::uint64_t Random::next() {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  std::uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return x ^ (x >> 27);
}

double Random::between(double low, double high) {
  return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
}

std::int64_t Carrier::channel_of(std::int64_t i) const {
  const Shape s(w);
  if (op == "Gemm") return attributes.find("transB=1") != std::string::npos ? i / w[1] : i % w[1];
  const std::int64_t taps = s.numel(2, s.rank());
  if (op == "Conv") return i / (w[1] * taps);
  const std::int64_t in = i / (w[1] * taps);  // ConvTranspose: [in, out of one group, taps]
  return in / (w[0] / groups) * w[1] + i / taps % w[1];
}

std::int64_t Carrier::input_channel_of(std::int64_t i) const {
  const Shape s(w);
  if (op == "Gemm") return attributes.find("transB=1") != std::string::npos ? i % w[1] : i / w[1];
  const std::int64_t taps = s.numel(2, s.rank());
  if (op == "ConvTranspose") return i / (w[1] * taps);
  return channel_of(i) / (channels / groups) * w[1] + i / taps % w[1];
}

const std::vector<Carrier>& carriers() {
  static const std::vector<Carrier> list{
      {"conv3x3_relu",
       "Conv",
       "<pads=[1,1,1,1]>",
       {1, 2, 5, 5},
       {4, 2, 3, 3},
       4,
       1,
       false,
       "y = Relu(b0)\n"},
      {"conv_bias_clip",
       "Conv",
       "",
       {1, 4, 4, 4},
       {4, 4, 1, 1},
       4,
       1,
       true,
       "y = Clip(b0, lo, hi)\n"},
      {"depthwise",
       "Conv",
       "<group=4, pads=[1,1,1,1]>",
       {1, 4, 4, 4},
       {4, 1, 3, 3},
       4,
       4,
       true,
       ""},
      {"grouped_residual",
       "Conv",
       "<group=2>",
       {1, 4, 4, 4},
       {6, 2, 1, 1},
       6,
       2,
       false,
       "a = Add(b0, r)\ny = Relu(a)\n",
       true,
       {1, 6, 4, 4}},
      {"transposed",
       "ConvTranspose",
       "<strides=[2,2]>",
       {1, 4, 3, 3},
       {4, 4, 2, 2},
       4,
       1,
       true,
       "y = Sigmoid(b0)\n"},
      {"transposed_groups",
       "ConvTranspose",
       "<group=2>",
       {1, 4, 3, 3},
       {4, 3, 2, 2},
       6,
       2,
       false,
       ""},
      {"gemm", "Gemm", "", {3, 4}, {4, 4}, 4, 1, true, "y = Relu(b0)\n"},
      {"gemm_transposed", "Gemm", "<transB=1>", {3, 4}, {5, 4}, 5, 1, true, ""},
  };
  return list;
}

Parameters draw(const Carrier& c, std::uint64_t seed) {
  Random r(seed);
  Parameters p;
  const std::int64_t count = Shape(c.w).numel();
  for (std::int64_t i = 0; i < count; ++i)
    p.w.push_back(static_cast<float>(r.between(0.1, 0.9) * ((r.next() & 4U) != 0 ? 1 : -1)));
  for (std::int64_t k = 0; k < c.channels; ++k) {
    if (c.bias) p.b.push_back(static_cast<float>(r.between(0.2, 1.2)));
    p.gamma.push_back(static_cast<float>(r.between(0.5, 1.8) * (k == 1 ? -1 : 1)));
    p.beta.push_back(static_cast<float>(r.between(-0.4, 0.4)));
    p.mean.push_back(static_cast<float>(r.between(0.1, 0.6)));
    p.var.push_back(static_cast<float>(r.between(0.3, 1.9)));
  }
  return p;
}

Feeds draw_input(const Carrier& c, std::uint64_t seed) {
  Random r(seed ^ 0x5DEECE66DULL);
  const auto fill = [&](const std::vector<std::int64_t>& dims) {
    Tensor t(DType::float32, Shape(dims));
    for (float& v : t.mutable_data<float>()) v = static_cast<float>(r.between(-2, 2));
    return t;
  };
  Feeds feeds{{"x", fill(c.x)}};
  if (c.reads_residual) feeds["r"] = fill(c.y);
  return feeds;
}

namespace {

/// Constants that every carrier's lines may name.
Graph finished(Net& net, const std::string& lines) {
  if (lines.find("lo") != std::string::npos) {
    net.constant("lo", Tensor::scalar(0.0F));
    net.constant("hi", Tensor::scalar(6.0F));
  }
  return net.outputs({"y"}).build();
}

}  // namespace

Graph original(const Carrier& c, const Parameters& p) {
  const std::string lines = line(c, "c", !p.b.empty()) +
                            "b0 = BatchNormalization<epsilon=1e-5>(c, g, b, m, v)\n" + ending(c);
  Net net = net_of(c, lines, p.w, p.b);
  net.constant("g", vector_of(p.gamma)).constant("b", vector_of(p.beta));
  net.constant("m", vector_of(p.mean)).constant("v", vector_of(p.var));
  return finished(net, lines);
}

Graph folded(const Carrier& c, const Constants& k,
             const std::function<std::string(std::string)>& text) {
  std::string lines = line(c, "b0", true) + ending(c);
  if (text) lines = text(lines);
  Net net = net_of(c, lines, k.w, k.b);
  return finished(net, lines);
}

Constants fold(const Carrier& c, const Parameters& p, int recipe) {
  if (recipe == 5) return in_double(c, p);
  Constants k;
  std::vector<float> s;
  for (std::size_t i = 0; i < p.gamma.size(); ++i) {
    const Channel channel{p.gamma[i],
                          p.beta[i],
                          p.mean[i],
                          p.var[i],
                          p.b.empty() ? 0.0F : p.b[i],
                          static_cast<float>(p.epsilon)};
    s.push_back(scale_of(channel, recipe));
    k.b.push_back(bias_of(channel, recipe));
  }
  for (std::size_t i = 0; i < p.w.size(); ++i)
    k.w.push_back(p.w[i] * s[static_cast<std::size_t>(c.channel_of(static_cast<std::int64_t>(i)))]);
  return k;
}

}  // namespace assay::defects
