// Pieces that scale and shift channels: BatchNormalization of every opset, its spellings in small
// operators, and constant Mul, Div, Add, Sub and Neg with operands of many broadcast shapes.
#include "tests/random_graphs/piece.h"

namespace assay::testing::scale_pieces {
namespace {

Tensor variances(GraphMaker& m, std::int64_t channels) {
  Tensor t(DType::float64, Shape{channels});
  for (double& v : t.mutable_data<double>()) {
    v = std::abs(m.random.normal()) + 0.01;
    if (m.random.chance(0.02)) v = 0;
    if (m.random.chance(0.01)) v = -0.5;  // misread weights: must not fold
    if (m.random.chance(0.03)) v = 1e-12;
  }
  return convert(convert(t, DType::float32), m.dtype);
}

/// Scales of both signs, some of them zero or powers of two.
Tensor scales(GraphMaker& m, const Shape& shape) {
  Tensor t = convert(m.floats(shape), DType::float64).clone();
  for (double& v : t.mutable_data<double>()) {
    if (m.random.chance(0.04)) v = 0;
    if (m.random.chance(0.04)) v = m.random.pick<double>({0.5, 2, -1});
  }
  return convert(t, m.dtype);
}

std::optional<Cell> batch_norm(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 2) return std::nullopt;
  const std::int64_t c = x.channels();
  Attributes a;
  if (m.random.chance(0.8)) a.set("epsilon", m.random.pick<float>({1e-5F, 1e-3F, 0.1F, 1e-7F}));
  if (m.random.chance(0.3)) a.set("momentum", 0.9F);
  if (m.opset < 7) a.set("is_test", std::int64_t{1});
  std::size_t outputs = 1;
  if (m.random.chance(0.02) && m.opset >= 14 && x.shape.numel() / c > 1) {
    a.set("training_mode", std::int64_t{1});
    outputs = m.random.chance(0.5) ? 3 : 1;
  }
  const std::vector<ValueId> inputs = {
      x.id, m.parameter("gamma", scales(m, Shape{c})), m.parameter("beta", m.floats(Shape{c})),
      m.parameter("mean", m.floats(Shape{c})), m.parameter("var", variances(m, c))};
  return m.node_with(outputs, "BatchNormalization", inputs, a)[0];
}

/// One number per channel, right-aligned: [C, 1, ..], [1, C, 1, ..] or, for a rank-2 value, [C].
Shape channel_shape(GraphMaker& m, const Cell& x) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.shape.rank() - 1), 1);
  dims[0] = x.channels();
  if (m.random.chance(0.4)) dims.insert(dims.begin(), 1);
  return Shape(dims);
}

/// Keras with fused=False: inv = γ/√(v+ε), y = x·inv + (β − μ·inv); or the textbook order
/// (x − μ)/√(v+ε)·γ + β. Either γ or β or both may be absent.
std::optional<Cell> spelled_batch_norm(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 2 || m.opset < 7) return std::nullopt;
  const Shape per = channel_shape(m, x);
  const bool scale = m.random.chance(0.7);
  const bool center = m.random.chance(0.7);
  const ValueId mean = m.parameter("mean", m.floats(per));
  const ValueId var = m.parameter("var", variances(m, x.channels()).reshaped(per));
  const Cell stored{var, per};
  const Cell sum = m.binary("Add", stored, m.plain("eps", m.scalar(1e-3)), m.random.chance(0.3));
  const Cell root = m.node("Sqrt", {sum.id});
  const Cell one{m.plain("one", m.scalar(1)), {}};
  Cell inv = m.random.chance(0.5) ? m.node("Reciprocal", {root.id})
                                  : Cell{m.node("Div", {one.id, root.id}).id, per};
  const ValueId gamma = scale ? m.parameter("gamma", scales(m, per)) : ValueId{};
  const ValueId beta = center ? m.parameter("beta", m.floats(per)) : ValueId{};
  const bool swapped = m.random.chance(0.3);
  if (m.random.chance(0.6)) {
    if (scale) inv = m.binary("Mul", inv, gamma, swapped);
    const Cell scaled = m.binary("Mul", x, inv.id, swapped);
    const Cell product = m.binary("Mul", inv, mean);
    if (!center) return m.binary("Sub", scaled, product.id);
    const Cell shift = m.node("Sub", {beta, product.id});
    return m.binary("Add", scaled, shift.id, swapped);
  }
  Cell y = m.binary("Sub", x, mean);
  y = m.random.chance(0.5) ? m.binary("Mul", y, inv.id, swapped) : m.binary("Div", y, root.id);
  if (scale) y = m.binary("Mul", y, gamma, swapped);
  return center ? m.binary("Add", y, beta, swapped) : y;
}

/// A constant that fits x by broadcasting without enlarging it.
ValueId operand(GraphMaker& m, const Cell& x, bool factor) {
  Shape shape = channel_shape(m, x);
  const double how = m.random.unit();
  if (how < 0.2) shape = Shape{};
  if (how >= 0.2 && how < 0.3) shape = Shape{1};
  if (how >= 0.3 && how < 0.36) shape = x.shape;
  if (how >= 0.36 && how < 0.44) shape = Shape{x.shape[-1]};
  if (how >= 0.44 && how < 0.48) {
    std::vector<std::int64_t> ones(static_cast<std::size_t>(x.shape.rank()), 1);
    shape = Shape(ones);
  }
  if (m.opset < 7) shape = how < 0.4 ? Shape{} : Shape{x.channels()};
  if (m.opset < 7 && shape.rank() == 1 && x.shape[-1] != x.channels()) shape = Shape{1};
  return m.parameter("k", factor ? scales(m, shape) : m.floats(shape));
}

std::optional<Cell> constant_operand(GraphMaker& m, const Cell& x) {
  const std::string type = m.random.pick<std::string>({"Mul", "Mul", "Div", "Add", "Add", "Sub"});
  const bool factor = type == "Mul" || type == "Div";
  if (x.shape.rank() < 2) return std::nullopt;
  const bool swapped = type != "Div" && m.random.chance(0.3);
  return m.binary(type, x, operand(m, x, factor), swapped);
}

std::optional<Cell> negation(GraphMaker& m, const Cell& x) { return m.node("Neg", {x.id}); }

const RegisterPiece pieces[] = {
    RegisterPiece({"batch_norm", Role::scale, 6, batch_norm}),
    RegisterPiece({"spelled_batch_norm", Role::scale, 2, spelled_batch_norm}),
    RegisterPiece({"constant_operand", Role::scale, 6, constant_operand}),
    RegisterPiece({"negation", Role::scale, 0.4, negation}),
};

}  // namespace
}  // namespace assay::testing::scale_pieces
