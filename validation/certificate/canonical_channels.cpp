// Canonical graphs: affine steps on the parts of a Concat.
#include <algorithm>

#include "validation/certificate/canonical_parts.h"
#include "validation/certificate/constant_value.h"

namespace assay {

Tensor rows_of(const Tensor& t, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> dims = t.shape().vec();
  const std::int64_t row = t.numel() / std::max<std::int64_t>(dims[0], 1) * size_of(t.dtype());
  dims[0] = end - begin;
  Tensor part(t.dtype(), Shape(dims));
  const auto from = t.raw().subspan(static_cast<std::size_t>(begin * row),
                                    static_cast<std::size_t>((end - begin) * row));
  std::copy(from.begin(), from.end(), part.mutable_raw().begin());
  return part;
}

std::optional<std::size_t> data_side(const Rewriter& r, const Node& n) {
  if (n.is("BatchNormalization"))
    return n.outputs.size() > 1 ? std::nullopt : std::optional(std::size_t{0});
  const auto constant = [&](std::size_t i) {
    return r.number(n, i) != nullptr || constant_value(r.graph(), n.inputs[i]).has_value();
  };
  if (n.is("Neg")) return constant(0) ? std::nullopt : std::optional(std::size_t{0});
  if (!n.is("Add") && !n.is("Sub") && !n.is("Mul") && !n.is("Div")) return std::nullopt;
  if (constant(0) == constant(1)) return std::nullopt;
  if (constant(1)) return 0;
  return n.is("Div") ? std::nullopt : std::optional(std::size_t{1});
}

namespace {

bool on_channels(const Node& concat, std::int64_t rank) {
  const std::int64_t axis = concat.attributes.int_or("axis", 1);
  return axis == 1 || axis == 1 - rank;
}

/// The constant operand of part [begin, end) of the channels; nullopt when it is not one number for
/// all or one per channel.
std::optional<Tensor> part_of(const Tensor& t, const Shape& whole, std::int64_t begin,
                              std::int64_t end) {
  if (t.numel() == 1) return t;
  const std::int64_t at = t.shape().rank() - (whole.rank() - 1);
  if (at < 0 || t.numel() != whole[1] || t.shape()[at] != whole[1]) return std::nullopt;
  std::vector<std::int64_t> dims = t.shape().vec();
  dims[static_cast<std::size_t>(at)] = end - begin;
  return rows_of(t.reshaped(Shape{whole[1]}), begin, end).reshaped(Shape(dims));
}

/// The same of a constant that nodes compute: a Slice of it, which constant_value() looks through.
std::optional<ValueId> part_of_formula(Rewriter& r, ValueId v, const Shape& whole,
                                       std::int64_t begin, std::int64_t end) {
  const auto k = constant_value(r.graph(), v);
  if (!k) return std::nullopt;
  if (k->shape.numel() == 1) return v;
  const std::int64_t at = k->shape.rank() - (whole.rank() - 1);
  if (at < 0 || k->shape.numel() != whole[1] || k->shape[at] != whole[1]) return std::nullopt;
  std::vector<std::int64_t> dims = k->shape.vec();
  dims[static_cast<std::size_t>(at)] = end - begin;
  Attributes a;
  a.set("starts", std::vector<std::int64_t>{begin});
  a.set("ends", std::vector<std::int64_t>{end});
  a.set("axes", std::vector<std::int64_t>{at});
  return r.put("Slice", {v}, Shape(dims), std::move(a));
}

/// Inputs of the step on one part; nullopt when it cannot be cut.
std::optional<std::vector<ValueId>> cut_step(Rewriter& r, const Node& step, std::size_t data,
                                             ValueId part, std::int64_t begin, std::int64_t end,
                                             const Shape& whole) {
  std::vector<ValueId> inputs = step.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == data) {
      inputs[i] = part;
      continue;
    }
    const Tensor* t = r.number(step, i);
    if (t == nullptr) {
      const auto part = part_of_formula(r, inputs[i], whole, begin, end);
      if (!part) return std::nullopt;
      inputs[i] = *part;
      continue;
    }
    const auto cut = step.is("BatchNormalization") && t->numel() == whole[1]
                         ? std::optional(rows_of(*t, begin, end))
                         : part_of(*t, whole, begin, end);
    if (!cut) return std::nullopt;
    inputs[i] = r.constant(*cut);
  }
  return inputs;
}

bool distribute(Rewriter& r, NodeId n) {
  const Node step = r.graph().node(n);
  const auto data = data_side(r, step);
  if (!data) return false;
  const NodeId c = r.producer(step.inputs[*data], "Concat");
  const Shape* s = r.shape(step.outputs[0]);
  const Shape* in = r.shape(step.inputs[*data]);
  if (!c.valid() || s == nullptr || in == nullptr || *s != *in || s->rank() < 2) return false;
  const Node concat = r.graph().node(c);
  const Shape whole = *s;
  if (!on_channels(concat, whole.rank())) return false;
  std::vector<ValueId> parts;
  std::int64_t begin = 0;
  for (const ValueId v : concat.inputs) {
    const Shape* one = r.shape(v);
    if (one == nullptr) return false;
    const Shape shape = *one;
    const auto inputs = cut_step(r, step, *data, v, begin, begin + shape[1], whole);
    if (!inputs) return false;
    parts.push_back(r.put(step.op_type, *inputs, shape, step.attributes));
    begin += shape[1];
  }
  r.graph().erase_node(n);
  Attributes axis;
  axis.set("axis", std::int64_t{1});
  r.put_as("Concat", parts, step.outputs[0], axis);
  return true;
}

}  // namespace

bool distribute_over_concat(Rewriter& r) {
  bool any = false;
  for (const NodeId n : r.graph().topological_order())
    any = (r.graph().alive(n) && distribute(r, n)) || any;
  return any;
}

}  // namespace assay
