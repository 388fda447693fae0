// Canonical graphs: affine steps in front of moves of elements.
#include <algorithm>
#include <set>

#include "runtime/executor.h"
#include "validation/certificate/canonical_parts.h"
#include "validation/certificate/constant_value.h"

namespace assay {
namespace {

constexpr std::int64_t largest_probe = 1 << 22;

bool moves(const Node* n) {
  static const std::set<std::string> list{"Reshape", "Flatten",      "Squeeze",   "Unsqueeze",
                                          "Slice",   "DepthToSpace", "Transpose", "Identity"};
  if (n == nullptr || !n->domain.empty() || n->outputs.size() != 1) return false;
  return list.count(n->op_type) != 0 || (n->is("Dropout") && n->inputs.size() == 1);
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

/// Every operand of the step but the data is one number for all, or one per channel (axis 1).
bool per_channel(const Rewriter& r, const Node& step, std::size_t data) {
  const Shape* x = r.shape(step.inputs[data]);
  if (x == nullptr || x->rank() < 2) return false;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (i == data) continue;
    if (step.is("BatchNormalization")) {
      if (r.number(step, i) == nullptr || r.number(step, i)->numel() != (*x)[1]) return false;
      continue;
    }
    const auto k = constant_value(r.graph(), step.inputs[i]);
    if (!k) return false;
    const std::int64_t at = k->shape.rank() - (x->rank() - 1);
    const bool channels =
        at >= 0 && at < k->shape.rank() && k->shape.numel() == (*x)[1] && k->shape[at] == (*x)[1];
    if (k->shape.numel() != 1 && !channels) return false;
  }
  return true;
}

bool in_place(const std::vector<std::int64_t>& map) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// The operand `v` of a step on `behind` for the same step on `front`: the number of each channel
/// of `front`.
ValueId gathered_operand(Rewriter& r, ValueId v, const Shape& behind, const Shape& front,
                         const std::vector<std::int64_t>& map) {
  const Shape shape = constant_value(r.graph(), v)->shape;
  if (shape.numel() == 1 && shape.rank() <= front.rank()) return v;
  if (behind.rank() == front.rank() && behind[1] == front[1] && in_place(map)) return v;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(front.rank() - 1), 1);
  dims[0] = front[1];
  const auto from = shape.numel() == 1 ? std::vector<std::int64_t>(map.size(), 0) : map;
  if (const Tensor* t = r.graph().constant(v))
    return r.constant(gathered(*t, from).reshaped(Shape(dims)));
  Attributes a;
  a.set("indices", from);
  a.set("shape", dims);
  return r.put("Gather", {v}, Shape(dims), std::move(a));
}

/// Inputs of the step in front of the moves, where it reads `front`.
std::vector<ValueId> gathered_inputs(Rewriter& r, const Node& step, std::size_t data, ValueId front,
                                     const std::vector<std::int64_t>& map) {
  std::vector<ValueId> inputs = step.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] =
        i == data ? front
        : step.is("BatchNormalization")
            ? r.constant(gathered(*r.number(step, i), map))
            : gathered_operand(r, inputs[i], *r.shape(step.inputs[data]), *r.shape(front), map);
  }
  return inputs;
}

/// The moves behind `v`, from the step back, and the value in front of them.
struct Moves {
  std::vector<NodeId> nodes = {};
  ValueId source = {};
  std::vector<std::int64_t> map = {};  ///< channel of the source -> channel behind
};

std::optional<Moves> moves_in_front(const Rewriter& r, ValueId behind) {
  const Graph& g = r.graph();
  Moves m{.source = behind};
  for (; moves(g.producer(m.source)); m.source = g.producer(m.source)->inputs[0])
    m.nodes.push_back(g.value(m.source).producer);
  const Shape* from = r.shape(m.source);
  const Shape* to = r.shape(behind);
  if (m.nodes.empty() || from == nullptr || to == nullptr || from->rank() < 2 || to->rank() < 2 ||
      from->numel() == 0 || from->numel() > largest_probe)
    return std::nullopt;
  try {
    Graph moving = extract(g, {m.source}, {behind});
    moving.set_type(moving.inputs()[0], {});
    m.map = channel_map(moving, *from);
  } catch (const Error&) {
    return std::nullopt;
  }
  return m.map.empty() ? std::nullopt : std::optional(std::move(m));
}

}  // namespace

bool move_step(Rewriter& r, NodeId n) {
  Graph& g = r.graph();
  const Node step = g.node(n);
  const auto data = data_side(r, step);
  if (!data || !per_channel(r, step, *data)) return false;
  const auto moved = moves_in_front(r, step.inputs[*data]);
  const Shape* out = r.shape(step.outputs[0]);
  if (!moved || out == nullptr || *out != *r.shape(step.inputs[*data])) return false;
  for (const NodeId m : moved->nodes) {
    if (r.shape(g.node(m).outputs[0]) == nullptr) return false;
  }
  const Shape source = *r.shape(moved->source);
  const auto inputs = gathered_inputs(r, step, *data, moved->source, moved->map);
  g.erase_node(n);
  ValueId now = r.put(step.op_type, inputs, source, step.attributes);
  for (std::size_t i = moved->nodes.size(); i-- > 0;) {
    const Node mover = g.node(moved->nodes[i]);
    std::vector<ValueId> in = mover.inputs;
    in[0] = now;
    if (i == 0) {
      r.put_as(mover.op_type, in, step.outputs[0], mover.attributes);
    } else {
      now = r.put(mover.op_type, in, Shape(*r.shape(mover.outputs[0])), mover.attributes);
    }
  }
  return true;
}

}  // namespace assay
