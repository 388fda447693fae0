#include "kernels/chain_plan.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "kernels/kernel.h"

namespace assay::kernels {
namespace {

constexpr std::size_t longest = 16;
constexpr std::int64_t most_channels = 2048;  // what a register of the chain kernel holds

/// Shape [1, C, 1, ...] (or [N, C, 1, ...] with `batch`), leading ones left out or not.
bool per_channel(const Shape& s, const Shape& y, bool batch) {
  if (y.rank() < 3 || s.rank() > y.rank() || y[1] > most_channels) return false;
  for (std::int64_t i = 0; i < y.rank(); ++i) {
    const std::int64_t k = i - (y.rank() - s.rank());
    const std::int64_t size = k < 0 ? 1 : s[k];
    const std::int64_t want = i == 1 ? y[1] : (i == 0 && batch ? y[0] : 1);
    if (size != want) return false;
  }
  return true;
}

bool is_unary(ChainFunction f) {
  return f == ChainFunction::clip || f == ChainFunction::relu || f == ChainFunction::hard_sigmoid ||
         f == ChainFunction::quantize;
}

class Planner {
 public:
  explicit Planner(const ChainView& view) : v_(view) {}

  /// Adds readers of the chain's values as long as any can be added.
  void grow(NodeId first) {
    bool grown = try_add(first);
    while (grown && plan_.nodes.size() < longest) {
      const auto next = candidates();
      grown = std::any_of(next.begin(), next.end(), [this](NodeId n) { return try_add(n); });
    }
  }

  const std::vector<NodeId>& nodes() const { return plan_.nodes; }

  /// The chain of exactly these nodes; nullopt when an inner value is read elsewhere.
  std::optional<ChainPlan> plan(std::span<const NodeId> nodes) {
    for (const NodeId n : nodes) {
      if (!try_add(n)) return std::nullopt;
    }
    if (!closed() || !chain_fits(plan_.spec.ops)) return std::nullopt;
    finish();
    return std::move(plan_);
  }

 private:
  ValueId output(NodeId n) const { return v_.graph.node(n).outputs[0]; }

  bool contains(NodeId n) const {
    return std::find(plan_.nodes.begin(), plan_.nodes.end(), n) != plan_.nodes.end();
  }

  std::vector<NodeId> candidates() const {
    std::vector<NodeId> list;
    for (const NodeId n : plan_.nodes) {
      for (const NodeId reader : v_.graph.value(output(n)).readers) {
        if (!contains(reader)) list.push_back(reader);
      }
    }
    return list;
  }

  /// Every value but the last is read by the chain alone.
  bool closed() const {
    for (std::size_t i = 0; i + 1 < plan_.nodes.size(); ++i) {
      const ValueId v = output(plan_.nodes[i]);
      const auto& readers = v_.graph.value(v).readers;
      if (readers.empty() || v_.graph.is_output(v)) return false;
      if (!std::all_of(readers.begin(), readers.end(), [this](NodeId n) { return contains(n); }))
        return false;
    }
    return true;
  }

  bool try_add(NodeId n) {
    const Node& node = v_.graph.node(n);
    if (!node.captures.empty() || node.outputs.size() != 1 || !node.has_output(0)) return false;
    if (!plan_.spec.ops.empty() && plan_.spec.ops.back().function == ChainFunction::quantize)
      return false;
    std::vector<const Tensor*> constants;
    for (const ValueId in : node.inputs)
      constants.push_back(in.valid() ? v_.constant(in) : nullptr);
    auto op = chain_op(node, 0, constants);
    if (!op) return false;
    const Slot y = v_.slot(output(n));
    if (y.shape.numel() == 0) return false;
    if (op->function == ChainFunction::quantize ? !is_code(y.dtype) : y.dtype != DType::float32)
      return false;
    if (plan_.nodes.empty()) plan_.spec.shape = y.shape;
    if (y.shape != plan_.spec.shape) return false;
    const auto before = std::tuple(plan_, full_, vectors_);
    if (!operands(node, *op, y)) {
      std::tie(plan_, full_, vectors_) = before;
      return false;
    }
    plan_.spec.ops.push_back(*op);
    plan_.nodes.push_back(n);
    return true;
  }

  bool operands(const Node& node, ChainOp& op, const Slot& y) {
    if (op.function == ChainFunction::dequantize) return codes(node.inputs[0], op);
    if (op.function == ChainFunction::quantize) {
      op.code = y.dtype;
      return operand(node.inputs[0], op.a) && op.a.from != ChainOperand::From::scalar;
    }
    return operand(node.inputs[0], op.a) &&
           (is_unary(op.function) || operand(node.inputs[1], op.b));
  }

  /// Codes come from outside the chain.
  bool codes(ValueId in, ChainOp& op) {
    if (!in.valid() || v_.constant(in) != nullptr || !v_.available(in)) return false;
    const Slot s = v_.slot(in);
    if (!is_code(s.dtype) || s.shape != plan_.spec.shape) return false;
    op.code = s.dtype;
    op.a = {.from = ChainOperand::From::input, .index = number(full_, in)};
    return true;
  }

  bool operand(ValueId in, ChainOperand& o) {
    if (!in.valid()) return false;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (output(plan_.nodes[i]) == in) {
        o = {.from = ChainOperand::From::earlier, .index = i};
        return true;
      }
    }
    if (const Tensor* t = v_.constant(in)) return constant_operand(*t, o);
    if (!v_.available(in)) return false;
    const Slot s = v_.slot(in);
    if (s.dtype != DType::float32) return false;
    if (s.shape == plan_.spec.shape) {
      o = {.from = ChainOperand::From::input, .index = number(full_, in)};
      return true;
    }
    if (!per_channel(s.shape, plan_.spec.shape, true)) return false;
    o = {.from = ChainOperand::From::channels, .index = plan_.spec.channels.size()};
    plan_.spec.channels.push_back({.constant = {}, .input = number(vectors_, in)});
    return true;
  }

  bool constant_operand(const Tensor& t, ChainOperand& o) {
    if (t.dtype() != DType::float32) return false;
    if (t.numel() == 1 && t.shape().rank() <= plan_.spec.shape.rank()) {
      o = {.from = ChainOperand::From::scalar, .scalar = t.data<float>()[0]};
      return true;
    }
    if (!per_channel(t.shape(), plan_.spec.shape, false)) return false;
    o = {.from = ChainOperand::From::channels, .index = plan_.spec.channels.size()};
    plan_.spec.channels.push_back({.constant = {t.data<float>().begin(), t.data<float>().end()}});
    return true;
  }

  static std::size_t number(std::vector<ValueId>& list, ValueId v) {
    const auto at = std::find(list.begin(), list.end(), v);
    if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
    list.push_back(v);
    return list.size() - 1;
  }

  void finish() {
    plan_.full = full_.size();
    plan_.inputs = full_;
    plan_.inputs.insert(plan_.inputs.end(), vectors_.begin(), vectors_.end());
    for (ChainChannels& c : plan_.spec.channels) {
      if (c.constant.empty()) c.input += full_.size();
    }
    const Shape& s = plan_.spec.shape;
    const bool last = std::any_of(full_.begin(), full_.end(), [&](ValueId v) {
      return v_.slot(v).layout == Layout::channels_last;
    });
    const bool wide = s.rank() >= 3 && s.rank() <= 5;
    plan_.layout =
        wide && (last || !plan_.spec.channels.empty()) ? Layout::channels_last : Layout::plain;
  }

  const ChainView& v_;
  ChainPlan plan_;
  std::vector<ValueId> full_, vectors_;
};

}  // namespace

std::optional<ChainPlan> plan_chain(const ChainView& view, NodeId first) {
  Planner all(view);
  all.grow(first);
  // The longest part of it whose inner values nobody else needs.
  for (std::size_t size = all.nodes().size(); size >= 2; --size) {
    auto plan = Planner(view).plan(std::span(all.nodes()).first(size));
    // Channel operands repeat along the innermost axis only when that is the channel axis.
    if (plan && (plan->spec.channels.empty() || plan->layout != Layout::plain)) return plan;
  }
  return std::nullopt;
}

std::optional<TailPlan> plan_tail(ChainView view, ValueId v) {
  view.available = [before = view.available, v](ValueId x) { return x == v || before(x); };
  const auto& readers = view.graph.value(v).readers;
  if (view.graph.is_output(v)) return std::nullopt;
  for (const NodeId first : readers) {
    Planner all(view);
    all.grow(first);
    for (std::size_t size = all.nodes().size(); size >= 1; --size) {
      const auto nodes = std::span(all.nodes()).first(size);
      const bool whole = std::all_of(readers.begin(), readers.end(), [&](NodeId n) {
        return std::find(nodes.begin(), nodes.end(), n) != nodes.end();
      });
      if (!whole) break;
      const auto plan = Planner(view).plan(nodes);
      if (!plan || plan->inputs != std::vector{v}) continue;
      if (auto steps = tail_of(plan->spec)) return TailPlan{plan->nodes, *std::move(steps)};
    }
  }
  return std::nullopt;
}

}  // namespace assay::kernels
