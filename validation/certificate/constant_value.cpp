#include "validation/certificate/constant_value.h"

#include <algorithm>

namespace assay {
namespace {

/// Expressions are parameters of channels; anything larger is a weight and is folded elsewhere.
constexpr std::int64_t largest = 1 << 16;

std::int64_t axis_size(const Shape& s, std::int64_t from_end) {
  return from_end <= s.rank() ? s[s.rank() - from_end] : 1;
}

/// Broadcast shape of both, or nullopt.
std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  std::vector<std::int64_t> dims;
  for (std::int64_t k = std::max(a.rank(), b.rank()); k >= 1; --k) {
    const std::int64_t x = axis_size(a, k), y = axis_size(b, k);
    if (x != y && x != 1 && y != 1) return std::nullopt;
    dims.push_back(x == 1 ? y : x);
  }
  return Shape(dims);
}

/// Index in a tensor of shape `s` of element `i` of the broadcast shape `all`.
std::size_t source(const Shape& s, const Shape& all, std::int64_t i) {
  std::int64_t at = 0;
  std::int64_t step = 1;
  for (std::int64_t k = 1; k <= all.rank(); ++k) {
    const std::int64_t n = axis_size(all, k);
    if (k <= s.rank() && axis_size(s, k) != 1) at += i % n * step;
    if (k <= s.rank()) step *= axis_size(s, k);
    i /= n;
  }
  return static_cast<std::size_t>(at);
}

std::optional<Real> power(const Real& base, double exponent) {
  if (exponent == 2) return base * base;
  if (exponent == -1) return Real(1) / base;
  if (exponent == 0.5) return base.sqrt();
  if (exponent == -0.5) return Real(1) / base.sqrt();
  return std::nullopt;
}

std::optional<Real> binary(const std::string& op, const Real& a, const Real& b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  return op == "Pow" ? power(a, b.to_double()) : std::nullopt;
}

std::optional<RealTensor> combine(const std::string& op, const RealTensor& a, const RealTensor& b) {
  const auto shape = common_shape(a.shape, b.shape);
  if (!shape || shape->numel() > largest) return std::nullopt;
  RealTensor out{.shape = *shape, .values = {}, .stored = false};
  for (std::int64_t i = 0; i < shape->numel(); ++i) {
    const auto x =
        binary(op, a.values[source(a.shape, *shape, i)], b.values[source(b.shape, *shape, i)]);
    if (!x) return std::nullopt;
    out.values.push_back(*x);
  }
  return out;
}

std::optional<RealTensor> unary(const std::string& op, RealTensor a) {
  for (Real& x : a.values) {
    if (op == "Sqrt") {
      x = x.sqrt();
    } else if (op == "Reciprocal") {
      x = Real(1) / x;
    } else if (op == "Neg") {
      x = Real(0) - x;
    } else if (op != "Identity") {
      return std::nullopt;
    }
  }
  a.stored = a.stored && op == "Identity";
  return a;
}

/// The same numbers in the shape that `target` states; nullopt where it has to be worked out.
std::optional<RealTensor> reshaped(RealTensor a, const Tensor* target) {
  if (target == nullptr || target->dtype() != DType::int64) return std::nullopt;
  const Shape shape(to_ints(*target));
  for (const std::int64_t d : shape.dims()) {
    if (d <= 0) return std::nullopt;
  }
  if (shape.numel() != a.shape.numel()) return std::nullopt;
  a.shape = shape;
  return a;
}

/// A Slice that canonical() made: a part of the only axis that is longer than 1.
std::optional<RealTensor> part(const RealTensor& a, const Node& slice) {
  const std::int64_t begin = slice.attributes.ints_or("starts", {0})[0];
  const std::int64_t end = slice.attributes.ints_or("ends", {0})[0];
  const std::int64_t axis = slice.attributes.ints_or("axes", {0})[0];
  if (axis < 0 || axis >= a.shape.rank() || a.shape[axis] != a.shape.numel() || begin < 0 ||
      end > a.shape.numel() || end <= begin)
    return std::nullopt;
  std::vector<std::int64_t> dims = a.shape.vec();
  dims[static_cast<std::size_t>(axis)] = end - begin;
  return RealTensor{.shape = Shape(dims),
                    .values = {a.values.begin() + begin, a.values.begin() + end},
                    .stored = a.stored};
}

/// A Gather that canonical() made: the numbers of the listed channels.
std::optional<RealTensor> gathered(const RealTensor& a, const Node& gather) {
  RealTensor out{
      .shape = Shape(gather.attributes.ints_or("shape", {})), .values = {}, .stored = a.stored};
  for (const std::int64_t i : gather.attributes.ints_or("indices", {})) {
    if (i < 0 || i >= a.shape.numel()) return std::nullopt;
    out.values.push_back(a.values[static_cast<std::size_t>(i)]);
  }
  if (out.shape.numel() != std::ssize(out.values)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<RealTensor> constant_value(const Graph& g, ValueId v) {
  if (!v.valid()) return std::nullopt;
  if (const Tensor* t = g.constant(v)) {
    if (!is_float(t->dtype()) || t->numel() > largest) return std::nullopt;
    const auto x = to_doubles(*t);
    return RealTensor{.shape = t->shape(), .values = {x.begin(), x.end()}};
  }
  const Node* n = g.producer(v);
  if (n == nullptr || !n->domain.empty() || n->inputs.empty() || n->inputs.size() > 2)
    return std::nullopt;
  const auto a = constant_value(g, n->inputs[0]);
  if (!a) return std::nullopt;
  if (n->is("Slice") && n->inputs.size() == 1) return part(*a, *n);
  if (n->is("Gather") && n->inputs.size() == 1) return gathered(*a, *n);
  if (n->inputs.size() == 1) return unary(n->op_type, *a);
  if (n->is("Reshape")) return reshaped(*a, g.constant(n->inputs[1]));
  const auto b = constant_value(g, n->inputs[1]);
  return b ? combine(n->op_type, *a, *b) : std::nullopt;
}

}  // namespace assay
