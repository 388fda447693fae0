// Channels in canonical graphs: normalizations in front of moves, steps over Concat.
#include <algorithm>
#include <set>

#include "runtime/executor.h"
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

namespace {

constexpr std::int64_t largest_probe = 1 << 22;

bool moves(const Node* n) {
  static const std::set<std::string> list{"Reshape", "Flatten",      "Squeeze",   "Unsqueeze",
                                          "Slice",   "DepthToSpace", "Transpose", "Identity"};
  return n != nullptr && n->domain.empty() && list.count(n->op_type) != 0;
}

/// For each channel (axis 1) of the source the channel that it feeds; empty when some feeds
/// several.
std::vector<std::int64_t> channel_map(const Graph& moving, const Shape& from) {
  Tensor codes(DType::float32, from);
  const std::int64_t inner = from.numel(2, from.rank());
  auto code = codes.mutable_data<float>();
  for (std::size_t i = 0; i < code.size(); ++i)
    code[i] = static_cast<float>(static_cast<std::int64_t>(i) / inner % from[1]);
  const Tensor out = Executor(moving, Precision::f32)
                         .run({{moving.name(moving.inputs()[0]), codes}})
                         .begin()
                         ->second;
  if (out.shape().rank() < 2) return {};
  std::vector<std::int64_t> map(static_cast<std::size_t>(from[1]), -1);
  const std::int64_t out_inner = out.shape().numel(2, out.shape().rank());
  const auto found = out.data<float>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    auto& to = map[static_cast<std::size_t>(found[static_cast<std::size_t>(i)])];
    const std::int64_t channel = i / out_inner % out.shape()[1];
    if (to >= 0 && to != channel) return {};
    to = channel;
  }
  for (std::int64_t& to : map) to = std::max<std::int64_t>(to, 0);
  return map;
}

Tensor gathered(const Tensor& t, const std::vector<std::int64_t>& map) {
  Tensor out(t.dtype(), Shape{static_cast<std::int64_t>(map.size())});
  const auto size = static_cast<std::size_t>(size_of(t.dtype()));
  for (std::size_t c = 0; c < map.size(); ++c) {
    const auto one = t.raw().subspan(static_cast<std::size_t>(map[c]) * size, size);
    std::copy(one.begin(), one.end(),
              out.mutable_raw().begin() + static_cast<std::ptrdiff_t>(c * size));
  }
  return out;
}

}  // namespace

void move_normalization(Rewriter& r, NodeId bn) {
  Graph& g = r.graph();
  const Node node = g.node(bn);
  std::vector<NodeId> chain;
  ValueId v = node.inputs[0];
  for (; moves(g.producer(v)); v = g.producer(v)->inputs[0]) chain.push_back(g.value(v).producer);
  const Shape* from = r.shape(v);
  if (chain.empty() || from == nullptr || from->rank() < 2 || from->numel() == 0 ||
      from->numel() > largest_probe || node.outputs.size() > 1)
    return;
  for (std::size_t i = 1; i < 5; ++i) {
    if (r.number(node, i) == nullptr) return;
  }
  std::vector<std::int64_t> map;
  const Shape source = *from;
  try {
    Graph moving = extract(g, {v}, {node.inputs[0]});
    moving.set_type(moving.inputs()[0], {});
    map = channel_map(moving, source);
  } catch (const Error&) {
    return;
  }
  if (map.empty()) return;
  std::vector<ValueId> inputs = {v};
  for (std::size_t i = 1; i < 5; ++i)
    inputs.push_back(r.constant(gathered(*r.number(node, i), map)));
  g.erase_node(bn);
  ValueId now = r.put("BatchNormalization", inputs, source, node.attributes);
  for (std::size_t i = chain.size(); i-- > 0;) {
    const Node mover = g.node(chain[i]);
    std::vector<ValueId> in = mover.inputs;
    in[0] = now;
    const Shape* s = r.shape(mover.outputs[0]);
    if (i == 0 || s == nullptr) {
      now = i == 0 ? node.outputs[0] : now;
      r.put_as(mover.op_type, in, now, mover.attributes);
    } else {
      now = r.put(mover.op_type, in, Shape(*s), mover.attributes);
    }
  }
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

std::optional<std::size_t> data_side(const Rewriter& r, const Node& n) {
  if (n.is("BatchNormalization"))
    return n.outputs.size() > 1 ? std::nullopt : std::optional(std::size_t{0});
  if (!n.is("Add") && !n.is("Sub") && !n.is("Mul") && !n.is("Div")) return std::nullopt;
  const auto constant = [&](std::size_t i) {
    return r.number(n, i) != nullptr || constant_value(r.graph(), n.inputs[i]).has_value();
  };
  if (constant(1)) return 0;
  return constant(0) && !n.is("Div") ? std::optional(std::size_t{1}) : std::nullopt;
}

void distribute(Rewriter& r, NodeId n) {
  const Node step = r.graph().node(n);
  const auto data = data_side(r, step);
  if (!data) return;
  const NodeId c = r.producer(step.inputs[*data], "Concat");
  const Shape* s = r.shape(step.outputs[0]);
  if (!c.valid() || s == nullptr || s->rank() < 2) return;
  const Node concat = r.graph().node(c);
  const Shape whole = *s;
  if (!on_channels(concat, whole.rank())) return;
  std::vector<ValueId> parts;
  std::int64_t begin = 0;
  for (const ValueId v : concat.inputs) {
    const Shape* one = r.shape(v);
    if (one == nullptr) return;
    const Shape shape = *one;
    const auto inputs = cut_step(r, step, *data, v, begin, begin + shape[1], whole);
    if (!inputs) return;
    parts.push_back(r.put(step.op_type, *inputs, shape, step.attributes));
    begin += shape[1];
  }
  r.graph().erase_node(n);
  Attributes axis;
  axis.set("axis", std::int64_t{1});
  r.put_as("Concat", parts, step.outputs[0], axis);
}

}  // namespace

void distribute_over_concat(Rewriter& r) {
  for (const NodeId n : r.graph().topological_order()) {
    if (r.graph().alive(n)) distribute(r, n);
  }
}

}  // namespace assay
