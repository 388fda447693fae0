// Pieces that multiply: convolutions of 1 to 3 dimensions, grouped and depthwise, transposed ones,
// Gemm and MatMul, and the group convolution written as Split, Conv, Concat.
#include "tests/random_graphs/piece.h"

namespace assay::testing::linear_pieces {
namespace {

std::int64_t divisor(GraphMaker& m, std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) all.push_back(d);
  }
  return m.random.pick(all);
}

/// Weights of a few special sizes now and then: tiny, huge, powers of two.
double spread(GraphMaker& m) {
  const double how = m.random.unit();
  return how < 0.9 ? 0.5 : how < 0.94 ? 1e-4 : how < 0.98 ? 1e4 : 0x1p-120;
}

void add_bias(GraphMaker& m, std::vector<ValueId>& inputs, std::int64_t channels) {
  if (m.random.chance(0.55))
    inputs.push_back(m.parameter("B", m.floats(Shape{channels})));
  else if (m.random.chance(0.2))
    inputs.push_back({});
}

struct Window {
  std::vector<std::int64_t> kernel;
  Attributes attributes = {};
};

Window window(GraphMaker& m, const Cell& x, bool allow_stride) {
  const std::int64_t axes = x.shape.rank() - 2;
  Window w;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(axes), 1);
  std::vector<std::int64_t> dilations(static_cast<std::size_t>(axes), 1);
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * axes), 0);
  const bool padded = m.random.chance(0.4);
  const bool strided = allow_stride && m.random.chance(0.25);
  for (std::int64_t i = 0; i < axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    w.kernel.push_back(std::min(m.random.between(1, 3), x.shape[i + 2]));
    if (strided) strides[at] = 2;
    if (w.kernel[at] == 2 && x.shape[i + 2] >= 3 && m.random.chance(0.2)) dilations[at] = 2;
    if (padded && w.kernel[at] > 1) {
      pads[at] = m.random.between(0, 1);
      pads[at + static_cast<std::size_t>(axes)] = m.random.between(0, 1);
    }
  }
  if (m.random.chance(0.7)) w.attributes.set("kernel_shape", w.kernel);
  if (strided || m.random.chance(0.3)) w.attributes.set("strides", strides);
  if (m.random.chance(0.3) || dilations != std::vector<std::int64_t>(dilations.size(), 1))
    w.attributes.set("dilations", dilations);
  if (m.random.chance(0.1))
    w.attributes.set("auto_pad", m.random.pick<std::string>({"SAME_UPPER", "VALID"}));
  else if (padded)
    w.attributes.set("pads", pads);
  return w;
}

std::optional<Cell> conv(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 3 || x.shape.rank() > 5) return std::nullopt;
  Window w = window(m, x, true);
  const std::int64_t group = m.random.chance(0.35) ? divisor(m, x.channels()) : 1;
  const std::int64_t channels = group * m.random.between(1, group > 1 ? 2 : 4);
  std::vector<std::int64_t> shape = {channels, x.channels() / group};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  if (group > 1 || m.random.chance(0.3)) w.attributes.set("group", group);
  std::vector<ValueId> inputs = {x.id, m.parameter("W", m.floats(Shape(shape), spread(m)))};
  add_bias(m, inputs, channels);
  return m.node("Conv", inputs, w.attributes);
}

std::optional<Cell> conv_transpose(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 3 || x.shape.rank() > 4 || x.shape.numel() > 200) return std::nullopt;
  const std::int64_t axes = x.shape.rank() - 2;
  const std::int64_t group = m.random.chance(0.3) ? divisor(m, x.channels()) : 1;
  const std::int64_t per_group = m.random.between(1, 3);
  std::vector<std::int64_t> shape = {x.channels(), per_group};
  const std::int64_t stride = m.random.between(1, 2);
  for (std::int64_t i = 0; i < axes; ++i) shape.push_back(m.random.between(stride, 3));
  Attributes a;
  if (stride > 1) {
    a.set("strides", std::vector<std::int64_t>(static_cast<std::size_t>(axes), stride));
    if (m.random.chance(0.3))
      a.set("output_padding", std::vector<std::int64_t>(static_cast<std::size_t>(axes), 1));
  }
  if (group > 1) a.set("group", group);
  std::vector<ValueId> inputs = {x.id, m.parameter("W", m.floats(Shape(shape), spread(m)))};
  add_bias(m, inputs, per_group * group);
  return m.node("ConvTranspose", inputs, a);
}

std::optional<Cell> gemm(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() != 2 || m.opset < 7) return std::nullopt;
  const bool transposed_a = m.random.chance(0.1);
  const bool transposed = m.random.chance(0.5);
  const std::int64_t k = x.shape[transposed_a ? 0 : 1];
  const std::int64_t rows = x.shape[transposed_a ? 1 : 0];
  const std::int64_t n = m.random.between(1, 4);
  Attributes a;
  if (transposed_a) a.set("transA", std::int64_t{1});
  if (transposed) a.set("transB", std::int64_t{1});
  if (m.random.chance(0.2)) a.set("alpha", static_cast<float>(m.random.normal()));
  if (m.random.chance(0.2)) a.set("beta", static_cast<float>(m.random.normal()));
  const Shape shape = transposed ? Shape{n, k} : Shape{k, n};
  std::vector<ValueId> inputs = {x.id, m.parameter("W", m.floats(shape, spread(m)))};
  if (m.opset < 11 || m.random.chance(0.6)) {
    const auto bias = m.random.pick<Shape>(
        {Shape{n}, Shape{n}, Shape{1, n}, Shape{}, Shape{1}, Shape{rows, 1}, Shape{rows, n}});
    inputs.push_back(m.parameter("C", m.floats(bias)));
  }
  return m.node("Gemm", inputs, a);
}

std::optional<Cell> matmul(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 2) return std::nullopt;
  const Shape shape{x.shape[-1], m.random.between(1, 4)};
  return m.node("MatMul", {x.id, m.parameter("W", m.floats(shape, spread(m)))});
}

/// TensorFlow's group convolution. Unequal parts, a swapped order and differing branches are
/// near-matches.
std::optional<Cell> split_conv(GraphMaker& m, const Cell& x) {
  if (x.shape.rank() < 3 || x.shape.rank() > 5 || x.channels() < 2) return std::nullopt;
  std::vector<std::int64_t> sizes;
  if (m.random.chance(0.8)) {
    const std::int64_t parts = x.channels() == 4 && m.random.chance(0.5) ? 4 : 2;
    if (x.channels() % parts != 0) return std::nullopt;
    sizes.assign(static_cast<std::size_t>(parts), x.channels() / parts);
  } else {
    sizes = {1, x.channels() - 1};
  }
  const auto slices = m.split(x, m.random.chance(0.9) ? 1 : 1 - x.shape.rank(), sizes);
  const std::int64_t channels = m.random.between(1, 2);
  const bool same_width = m.random.chance(0.85);
  std::vector<std::int64_t> kernel;
  for (std::int64_t i = 2; i < x.shape.rank(); ++i)
    kernel.push_back(std::min(m.random.between(1, 2), x.shape[i]));
  Attributes attributes;
  if (m.random.chance(0.5)) attributes.set("kernel_shape", kernel);
  std::vector<ValueId> branches;
  const bool biased = m.random.chance(0.5);
  for (const Cell& s : slices) {
    std::vector<std::int64_t> shape = {same_width ? channels : m.random.between(1, 3),
                                       s.channels()};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    std::vector<ValueId> inputs = {s.id, m.parameter("W", m.floats(Shape(shape), 0.5))};
    if (biased != m.random.chance(0.05))
      inputs.push_back(m.parameter("B", m.floats(Shape{shape[0]})));
    const Cell y = m.node("Conv", inputs, attributes);
    if (m.random.chance(0.03)) m.cells.push_back(y);
    branches.push_back(y.id);
  }
  if (m.random.chance(0.1)) std::swap(branches.front(), branches.back());
  Attributes axis;
  axis.set("axis", std::int64_t{1});
  return m.node("Concat", branches, axis);
}

const RegisterPiece pieces[] = {
    RegisterPiece({"conv", Role::linear, 6, conv}),
    RegisterPiece({"conv_transpose", Role::linear, 2, conv_transpose}),
    RegisterPiece({"gemm", Role::linear, 4, gemm}),
    RegisterPiece({"matmul", Role::linear, 1.5, matmul}),
    RegisterPiece({"split_conv", Role::linear, 1.5, split_conv}),
};

}  // namespace
}  // namespace assay::testing::linear_pieces
