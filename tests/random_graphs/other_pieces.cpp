// Pieces around the linear operators: padding, copies, residual additions, activations, data
// movement, captured values and quantizers.
#include <limits>

#include "tests/random_graphs/piece.h"

namespace assay::testing::other_pieces {
namespace {

std::optional<Cell> padding(GraphMaker& m, const Cell& x) {
  const std::int64_t rank = x.shape.rank();
  if (rank < 3 || rank > 5 || x.shape.numel() > 200) return std::nullopt;
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
  for (std::int64_t i = 2; i < rank; ++i) {
    pads[static_cast<std::size_t>(i)] = m.random.between(0, 1);
    pads[static_cast<std::size_t>(i + rank)] = m.random.between(0, 1);
  }
  if (m.random.chance(0.05)) pads[1] = 1;
  return m.pad(x, pads, m.random.chance(0.8) ? 0 : 0.5);
}

std::optional<Cell> pooling(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() != 4) return std::nullopt;
  Attributes a;
  const std::int64_t k = std::min<std::int64_t>(2, std::min(x.shape[2], x.shape[3]));
  a.set("kernel_shape", std::vector<std::int64_t>{k, k});
  const bool average = m.random.chance(0.6);
  if (average && m.opset >= 7 && m.random.chance(0.5)) a.set("count_include_pad", std::int64_t{1});
  if (k == 2 && m.random.chance(0.3)) a.set("pads", std::vector<std::int64_t>{0, 1, 1, 0});
  const bool lowest = !average && m.random.chance(0.5);
  const Cell padded = m.random.chance(0.5)
                          ? m.pad(x, {0, 0, 1, 0, 0, 0, 0, 1},
                                  lowest ? -std::numeric_limits<double>::infinity() : 0)
                          : x;
  return m.node(average ? "AveragePool" : "MaxPool", {padded.id}, a);
}

std::optional<Cell> copy(GraphMaker& m, const Cell& x) {
  if (m.opset < 7 || m.random.chance(0.6)) return m.node("Identity", {x.id});
  return m.node("Dropout", {x.id});
}

std::optional<Cell> capture(GraphMaker& m, const Cell& x) {
  if (m.opset < 11) return std::nullopt;
  m.cells.push_back(m.captured(x));
  return x;
}

/// A second value of the same shape, an earlier one if there is any; or one that broadcasts.
std::optional<Cell> residual(GraphMaker& m, const Cell& x) {
  std::optional<Cell> other;
  for (const Cell& c : m.cells) {
    if (c.shape == x.shape && m.random.chance(0.6)) other = c;
  }
  if (!other) {
    Shape shape = x.shape;
    if (m.random.chance(0.15) && m.opset >= 7) shape[-1] = 1;
    other = m.input(shape);
  }
  const bool swapped = m.random.chance(0.4) && other->shape == x.shape;
  return m.node("Add", swapped ? std::vector{other->id, x.id} : std::vector{x.id, other->id});
}

std::optional<Cell> simple_activation(GraphMaker& m, const Cell& x) {
  std::vector<std::string> types = {"Relu", "Relu",      "Relu", "Sigmoid",
                                    "Tanh", "LeakyRelu", "Elu",  "HardSigmoid"};
  if (m.opset >= 14) types.emplace_back("HardSwish");
  if (m.opset >= 18) types.emplace_back("Mish");
  if (m.opset >= 20) types.emplace_back("Gelu");
  const std::string type = m.random.pick(types);
  Attributes a;
  if ((type == "LeakyRelu" || type == "Elu") && m.random.chance(0.5)) a.set("alpha", 0.3F);
  if (type == "HardSigmoid" && m.random.chance(0.5)) a.set("beta", 0.4F);
  if (type == "Gelu" && m.random.chance(0.5)) a.set("approximate", std::string("tanh"));
  return m.node(type, {x.id}, a);
}

std::optional<Cell> clip(GraphMaker& m, const Cell& x) {
  switch (m.random.below(4)) {
    case 0:
      return m.clip(x, 0.0, 6.0);
    case 1:
      return m.clip(x, std::nullopt, 1.0);
    case 2:
      return m.clip(x, -0.5, std::nullopt);
    default:
      return m.clip(x, -1.0, 1.0);
  }
}

std::optional<Cell> swish(GraphMaker& m, const Cell& x) {
  if (m.random.chance(0.5)) {
    const Cell gate = m.node("Sigmoid", {x.id});
    return m.binary("Mul", x, gate.id, m.random.chance(0.5));
  }
  if (m.opset < 7) return std::nullopt;
  const Cell moved = m.binary("Add", x, m.plain("three", m.scalar(3)));
  const Cell clipped = m.clip(moved, 0.0, m.random.chance(0.9) ? 6.0 : 5.0);
  const Cell product = m.binary("Mul", x, clipped.id, m.random.chance(0.3));
  if (m.random.chance(0.5)) return m.binary("Div", product, m.plain("six", m.scalar(6)));
  return m.binary("Mul", product, m.plain("sixth", m.scalar(1.0 / 6)));
}

std::optional<Cell> depth_to_space(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() != 4) return std::nullopt;
  Cell y = x;
  if (y.channels() % 4 != 0) {
    const Shape shape{m.random.between(1, 2) * 4, x.channels(), 1, 1};
    y = m.node("Conv", {x.id, m.parameter("W", m.floats(shape, 0.5))});
  }
  Attributes a;
  a.set("blocksize", std::int64_t{2});
  if (m.opset >= 11 && m.random.chance(0.7))
    a.set("mode", m.random.pick<std::string>({"DCR", "CRD"}));
  return m.node("DepthToSpace", {y.id}, a);
}

/// TensorFlow's BatchToSpaceND as tf2onnx writes it.
std::optional<Cell> batch_to_space(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() != 4 || x.shape[0] % 4 != 0) return std::nullopt;
  Attributes a;
  a.set("blocksize", std::int64_t{2});
  Cell y = m.node("DepthToSpace", {m.transpose(x, {1, 0, 2, 3}).id}, a);
  if (m.random.chance(0.5)) y = m.slice(y, 2, 0, y.shape[2] - 1);
  return m.transpose(y, {1, 0, 2, 3});
}

std::optional<Cell> movement(GraphMaker& m, const Cell& x) {
  const std::int64_t rank = x.shape.rank();
  switch (m.random.below(4)) {
    case 0:
      if (rank < 3) return m.reshape(x, {x.shape[0], x.channels(), 1, 1});
      return m.reshape(x, {x.shape[0], x.channels(), -1});
    case 1: {
      if (rank < 4) return std::nullopt;
      std::vector<std::int64_t> perm = {0, 1, 3, 2};
      if (rank == 5) perm.push_back(4);
      return m.transpose(x, perm);
    }
    case 2:
      if (rank < 3 || x.shape[-1] < 2) return std::nullopt;
      return m.slice(x, rank - 1, 0, x.shape[-1] - 1);
    default:
      return rank > 2 ? std::optional(m.node("Flatten", {x.id})) : std::nullopt;
  }
}

/// Quantize and dequantize, with ranges that do and do not cover an activation's.
std::optional<Cell> quantizer(GraphMaker& m, const Cell& x) {
  if (m.opset < 10 || m.dtype != DType::float32) return std::nullopt;
  const ValueId scale = m.plain("scale", m.scalar(m.random.pick<double>({0.02, 6.0 / 255, 0.1})));
  const bool is_signed = m.random.chance(0.4);
  const ValueId zero =
      is_signed
          ? m.plain("zero", Tensor::scalar<std::int8_t>(m.random.pick<std::int8_t>({0, -128, 3})))
          : m.plain("zero", Tensor::scalar<std::uint8_t>(m.random.pick<std::uint8_t>({0, 0, 128})));
  const Cell q = m.node("QuantizeLinear", {x.id, scale, zero});
  if (m.random.chance(0.2))
    m.cells.push_back(m.node("DequantizeLinear",
                             {m.node("QuantizeLinear", {x.id, scale, zero}).id, scale, zero}));
  Cell y = m.node("DequantizeLinear", {q.id, scale, zero});
  if (m.random.chance(0.2)) {
    const Cell again = m.node("QuantizeLinear", {y.id, scale, zero});
    y = m.node("DequantizeLinear", {again.id, scale, zero});
  }
  return y;
}

const RegisterPiece pieces[] = {
    RegisterPiece({"padding", Role::before, 2, padding}),
    RegisterPiece({"copy", Role::before, 1, copy}),
    RegisterPiece({"pooling", Role::layout, 1, pooling}),
    RegisterPiece({"capture", Role::join, 0.3, capture}),
    RegisterPiece({"residual", Role::join, 3, residual}),
    RegisterPiece({"simple_activation", Role::activation, 4, simple_activation}),
    RegisterPiece({"clip", Role::activation, 1.5, clip}),
    RegisterPiece({"swish", Role::activation, 1, swish}),
    RegisterPiece({"depth_to_space", Role::layout, 1, depth_to_space}),
    RegisterPiece({"batch_to_space", Role::layout, 2, batch_to_space}),
    RegisterPiece({"movement", Role::layout, 2, movement}),
    RegisterPiece({"quantizer", Role::codes, 1, quantizer}),
};

}  // namespace
}  // namespace assay::testing::other_pieces
