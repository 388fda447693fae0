#include "validation/certificate/canonical.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "validation/certificate/canonical_parts.h"

namespace assay {

Rewriter::Rewriter(const Graph& g, std::map<std::string, Shape>& shapes) : g_(g), shapes_(shapes) {}

const Shape* Rewriter::shape(ValueId v) const {
  const auto it = shapes_.find(g_.name(v));
  return it == shapes_.end() ? nullptr : &it->second;
}

ValueId Rewriter::put(const std::string& op, std::vector<ValueId> in, const Shape& shape,
                      Attributes a) {
  // Both sides of a region share the map: no name may come twice in it.
  const ValueId v = g_.add_value(g_.fresh_name("canonical_" + std::to_string(shapes_.size())));
  shapes_[g_.name(v)] = shape;
  put_as(op, std::move(in), v, std::move(a));
  return v;
}

void Rewriter::put_as(const std::string& op, std::vector<ValueId> in, ValueId out, Attributes a) {
  g_.add_node({.name = g_.fresh_node_name("canonical"),
               .op_type = op,
               .inputs = std::move(in),
               .outputs = {out},
               .attributes = std::move(a)});
}

ValueId Rewriter::constant(Tensor t) {
  return g_.add_initializer(g_.fresh_name("canonical_constant"), std::move(t));
}

ValueId Rewriter::scalar(double x, DType dtype) {
  return constant(convert(Tensor::scalar<double>(x), dtype));
}

const Tensor* Rewriter::number(const Node& n, std::size_t i) const {
  return n.has_input(i) ? g_.constant(n.inputs[i]) : nullptr;
}

std::optional<double> Rewriter::single(const Node& n, std::size_t i) const {
  const Tensor* t = number(n, i);
  if (t == nullptr || t->numel() != 1 || !is_float(t->dtype())) return std::nullopt;
  return to_doubles(*t)[0];
}

NodeId Rewriter::producer(ValueId v, const std::string& op) const {
  const NodeId n = v.valid() ? g_.value(v).producer : NodeId{};
  return n.valid() && g_.node(n).is(op) ? n : NodeId{};
}

namespace {

// ---- activations

/// Bounds of a Clip; nullopt when one is not constant.
std::optional<std::pair<double, double>> bounds(const Rewriter& r, const Node& clip) {
  double low = clip.attributes.float_or("min", -INFINITY);
  double high = clip.attributes.float_or("max", INFINITY);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!clip.has_input(i)) continue;
    const auto x = r.single(clip, i);
    if (!x) return std::nullopt;
    (i == 1 ? low : high) = *x;
  }
  return std::pair{low, high};
}

Attributes clip_attributes(double low, double high) {
  Attributes a;
  a.set("min", static_cast<float>(low));
  a.set("max", static_cast<float>(high));
  return a;
}

void write_clip(Rewriter& r, NodeId n) {
  const Node node = r.graph().node(n);
  const auto b = bounds(r, node);
  if (!b) return;
  r.graph().erase_node(n);
  r.put_as("Clip", {node.inputs[0]}, node.outputs[0], clip_attributes(b->first, b->second));
}

void write_gate(Rewriter& r, NodeId n) {
  const Node node = r.graph().node(n);
  const Shape* s = r.shape(node.outputs[0]);
  if (s == nullptr) return;
  const Shape shape = *s;
  const double alpha = node.attributes.float_or("alpha", 0.2F);
  const double beta = node.attributes.float_or("beta", 0.5F);
  r.graph().erase_node(n);
  const ValueId scaled = r.put("Mul", {node.inputs[0], r.scalar(alpha, DType::float32)}, shape);
  const ValueId moved = r.put("Add", {scaled, r.scalar(beta, DType::float32)}, shape);
  r.put_as("Clip", {moved}, node.outputs[0], clip_attributes(0, 1));
}

/// The operand of `n` that is a Clip, if it is read here only.
std::optional<std::size_t> clip_side(const Rewriter& r, const Node& n) {
  for (std::size_t i = 0; i < std::min<std::size_t>(n.inputs.size(), 2); ++i) {
    if (r.producer(n.inputs[i], "Clip").valid() && r.graph().use_count(n.inputs[i]) == 1) return i;
  }
  return std::nullopt;
}

/// The Clip `c` scaled by k (a factor, or a divisor), as a new value.
std::optional<ValueId> scaled_clip(Rewriter& r, NodeId c, const std::string& op, double k) {
  const Node clip = r.graph().node(c);
  const auto b = bounds(r, clip);
  const Shape* s = r.shape(clip.outputs[0]);
  if (!b || s == nullptr || !(k > 0)) return std::nullopt;
  const Shape shape = *s;
  const auto scale = [&](double x) { return op == "Div" ? x / k : x * k; };
  const ValueId v = r.put(op, {clip.inputs[0], r.scalar(k, DType::float32)}, shape);
  return r.put("Clip", {v}, shape, clip_attributes(scale(b->first), scale(b->second)));
}

/// Mul or Div by a positive number behind x * Clip(v) or Clip(v).
void move_factor(Rewriter& r, NodeId n) {
  const Node node = r.graph().node(n);
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    const auto k = r.single(node, side);
    if (!k || (side == 0 && node.is("Div"))) continue;
    const ValueId inner = node.inputs[1 - side];
    if (const NodeId c = r.producer(inner, "Clip"); c.valid()) {
      const auto v = scaled_clip(r, c, node.op_type, *k);
      if (!v) return;
      r.graph().erase_node(n);
      return r.put_as("Identity", {*v}, node.outputs[0]);
    }
    const NodeId m = r.producer(inner, "Mul");
    if (!m.valid() || r.graph().use_count(inner) != 1) continue;
    const Node product = r.graph().node(m);
    const auto gate = clip_side(r, product);
    if (!gate) continue;
    const auto v = scaled_clip(r, r.producer(product.inputs[*gate], "Clip"), node.op_type, *k);
    if (!v) return;
    r.graph().erase_node(n);
    return r.put_as("Mul", {product.inputs[1 - *gate], *v}, node.outputs[0]);
  }
}

// ---- quantizers

/// QuantizeLinear(act(x)): the codes beyond the bend are the last ones anyway. True when the
/// quantizer reads x now, which may be an activation again.
bool drop_saturated(Rewriter& r, NodeId n) {
  const Node q = r.graph().node(n);
  const NodeId a = r.graph().value(q.inputs[0]).producer;
  const Tensor* scale = r.number(q, 1);
  const Tensor* zero = r.number(q, 2);
  if (!a.valid() || scale == nullptr || zero == nullptr || scale->numel() != 1) return false;
  const Node act = r.graph().node(a);
  std::optional<std::pair<double, double>> b;
  if (act.is("Relu")) b = {0.0, INFINITY};
  if (act.is("Clip")) b = bounds(r, act);
  const bool is_signed = zero->dtype() == DType::int8;
  if (!b || (!is_signed && zero->dtype() != DType::uint8)) return false;
  const double s = to_doubles(*scale)[0], z = to_doubles(*zero)[0];
  const double lowest = is_signed ? -128 : 0, highest = is_signed ? 127 : 255;
  // Half a code less a margin above the roundings of the quotient.
  const bool low = b->first == -INFINITY || b->first / s + z <= lowest + 0.499;
  const bool high = b->second == INFINITY || b->second / s + z >= highest - 0.499;
  if (!high || (!low && (act.is("Relu") || b->first != 0))) return false;
  const ValueId x = act.inputs[0];
  if (low) {
    r.graph().set_input(n, 0, x);
    return true;
  }
  const Shape* shape = r.shape(q.inputs[0]);
  if (shape == nullptr) return false;
  r.graph().set_input(n, 0, r.put("Relu", {x}, Shape(*shape)));
  return false;
}

/// Towards the operators in front, through moves and concatenations in turn.
void move_steps(Rewriter& r) {
  for (bool any = true; any;) {
    any = false;
    for (const NodeId n : r.graph().topological_order())
      any = (r.graph().alive(n) && move_step(r, n)) || any;
    any = distribute_over_concat(r) || any;
    r.graph().remove_dead();
  }
}

}  // namespace

Graph canonical(const Graph& g, std::map<std::string, Shape>& shapes) {
  Rewriter r(g, shapes);
  for (const NodeId n : r.graph().topological_order()) {
    if (!r.graph().alive(n)) continue;
    const Node& node = r.graph().node(n);
    if (node.is("Clip"))
      write_clip(r, n);
    else if (node.is("HardSigmoid"))
      write_gate(r, n);
    else if (node.is("QuantizeLinear"))
      while (drop_saturated(r, n)) {
      }
  }
  for (const NodeId n : r.graph().topological_order()) {
    if (r.graph().alive(n) && (r.graph().node(n).is("Mul") || r.graph().node(n).is("Div")))
      move_factor(r, n);
  }
  move_steps(r);
  r.graph().remove_dead();
  return std::move(r.graph());
}

}  // namespace assay
