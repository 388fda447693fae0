#include "quant/causes.h"

#include <algorithm>
#include <cmath>

#include "quant/plan.h"
#include "quant/tail.h"
#include "runtime/executor.h"
#include "runtime/numeric/block_map.h"
#include "runtime/numeric/quantize.h"

namespace assay {
namespace {

using Doubles = std::vector<double>;

struct Operand {
  std::string value;  ///< float value in front of the quantizer
  QuantParams params = {};
};

struct Layer {
  LayerCauses causes;
  std::optional<Executor> head;  ///< linear part: x, w, b -> linear
  Executor tail;                 ///< linear, r -> result
  Operand x;
  std::optional<Operand> r;
  Tensor w, w_file, b, b_file;  ///< original and as the file has it (float32)
  std::vector<char> w_clipped;
  std::optional<QuantParams> mid, y;
};

/// Inputs without a declared type, so that float64 may be fed.
ValueId free_input(Graph& g, const std::string& name) { return g.add_input(name, {}); }

Graph empty_like(const Graph& g) {
  Graph out;
  out.info.opsets = g.info.opsets;
  return out;
}

Executor head_of(const Graph& qdq, const Node& node, bool with_bias) {
  Graph g = empty_like(qdq);
  Node copy = node;
  copy.inputs = {free_input(g, "x"), free_input(g, "w")};
  if (with_bias) copy.inputs.push_back(free_input(g, "b"));
  copy.outputs = {g.add_value("linear")};
  g.add_node(copy);
  g.add_output(copy.outputs[0]);
  return Executor(std::move(g), Precision::f64);
}

/// Add (when there is a residual) and activation.
Executor tail_of(const Graph& qdq, const Tail& tail, bool add) {
  Graph g = empty_like(qdq);
  ValueId v = free_input(g, "linear");
  if (add) {
    const ValueId sum = g.add_value("sum");
    g.add_node(
        {.name = "add", .op_type = "Add", .inputs = {v, free_input(g, "r")}, .outputs = {sum}});
    v = sum;
  }
  for (const NodeId n : tail.nodes) {
    const Node& node = qdq.node(n);
    if (node.op_type != tail.activation.type) continue;
    Node copy = node;
    copy.inputs = {v};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const bool there = node.inputs[i].valid();
      copy.inputs.push_back(
          there ? g.add_initializer("bound" + std::to_string(i), *qdq.constant(node.inputs[i]))
                : ValueId{});
    }
    copy.outputs = {g.add_value("result")};
    v = copy.outputs[0];
    g.add_node(std::move(copy));
  }
  if (g.node_count() == 0) {
    const ValueId same = g.add_value("result");
    g.add_node({.name = "same", .op_type = "Identity", .inputs = {v}, .outputs = {same}});
    v = same;
  }
  g.add_output(v);
  return Executor(std::move(g), Precision::f64);
}

Tensor only_output(const Executor& e, const Feeds& feeds) { return e.run(feeds).begin()->second; }

enum class Part { all, rounding, clipping };

/// Q/DQ of a tensor in float64, or only of the elements that round or that clip.
Tensor quantized(const Tensor& x, const QuantParams& p, Part part) {
  Tensor out(DType::float64, x.shape());
  const auto values = to_doubles(x);
  const CodeRange range = p.range();
  const SmallCodes code_at(p.zero_point, range);
  const auto scale = static_cast<double>(p.scale), zero = static_cast<double>(p.zero_point);
  const double lowest = static_cast<double>(range.lo) - zero;
  const double highest = static_cast<double>(range.hi) - zero;
  map_all(values.data(), out.mutable_data<double>().data(), x.numel(), [=](double v) {
    const double steps = v / scale;
    const double whole = (steps + 0x1.8p52) - 0x1.8p52;  // as SmallCodes rounds
    const bool clips = whole < lowest || whole > highest;
    const bool swap = part == Part::all || (part == Part::clipping) == clips;
    return swap ? (static_cast<double>(code_at(steps)) - zero) * scale : v;
  });
  return out;
}

double energy(const Tensor& a, const Tensor& b) {
  const auto x = to_doubles(a), y = to_doubles(b);
  ASSAY_ASSERT(x.size() == y.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

double energy(const Tensor& a) { return energy(a, Tensor::zeros(DType::float64, a.shape())); }

/// The operands, weights and bias of one evaluation.
struct Sources {
  Tensor x, r, w, b;
};

Tensor evaluate(const Layer& l, const Sources& s, bool requantize) {
  Tensor v = s.x;
  if (l.head) {
    Feeds feeds{{"x", s.x}, {"w", s.w}};
    if (s.b.defined()) feeds["b"] = s.b;
    v = only_output(*l.head, feeds);
  }
  if (requantize && l.mid) v = quantized(v, *l.mid, Part::all);
  Feeds feeds{{"linear", v}};
  if (s.r.defined()) feeds["r"] = s.r;
  Tensor y = only_output(l.tail, feeds);
  return requantize && l.y ? quantized(y, *l.y, Part::all) : y;
}

/// Weights of the file where their code rounds (or where it clips), original ones elsewhere.
Tensor mixed_weights(const Layer& l, bool clipping) {
  Tensor out = l.w.clone();
  const auto file = l.w_file.data<float>();
  for (std::size_t i = 0; i < file.size(); ++i) {
    if ((l.w_clipped[i] != 0) == clipping) out.mutable_data<float>()[i] = file[i];
  }
  return out;
}

}  // namespace

double LayerCauses::interaction() const {
  return total - weight_rounding - weight_clipping - activation_rounding - activation_clipping -
         bias - requantization - inherited;
}

struct CauseSplitter::Impl {
  std::vector<Layer> layers;
  std::map<std::string, std::string> skipped;

  void collect(const Graph& plain, const Graph& qdq) {
    const StaticTypes types = probed_types(qdq);
    const auto order = qdq.topological_order();
    std::set<NodeId> taken;
    // Linear operators first and later ones before earlier ones, as lowering does: they take the
    // Adds behind them.
    for (const QuantRole role : {QuantRole::linear, QuantRole::add}) {
      for (auto n = order.rbegin(); n != order.rend(); ++n) {
        if (taken.count(*n) != 0 || role_of(qdq.node(*n)) != role) continue;
        const Tail tail = free_tail(qdq, *n, types, role == QuantRole::linear, taken);
        const auto why =
            role == QuantRole::linear ? add_linear(plain, qdq, *n, tail) : add_sum(qdq, *n, tail);
        if (why)
          skipped[qdq.node(*n).name] = why->reason;
        else
          taken.insert(tail.nodes.begin(), tail.nodes.end());
      }
    }
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < order.size(); ++i) position[qdq.node(order[i]).name] = i;
    std::sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
      return position[a.causes.node] < position[b.causes.node];
    });
  }

  static Tail free_tail(const Graph& g, NodeId n, const StaticTypes& types, bool with_residual,
                        const std::set<NodeId>& taken) {
    Tail t = find_tail(g, n, types, with_residual);
    const bool clash =
        std::any_of(t.nodes.begin(), t.nodes.end(), [&](NodeId k) { return taken.count(k) != 0; });
    return clash ? find_tail(g, n, types, false) : t;
  }

  static Operand operand(const Graph& g, const CodeSource& s) {
    const Node* q = g.producer(s.codes);
    return {q != nullptr && q->is("QuantizeLinear") ? g.name(q->inputs[0]) : "", s.params};
  }

  static Layer layer_for(const Graph& qdq, NodeId n, const Tail& t, Executor tail) {
    Layer l{.causes = {},
            .head = std::nullopt,
            .tail = std::move(tail),
            .x = {},
            .r = {},
            .w = {},
            .w_file = {},
            .b = {},
            .b_file = {},
            .w_clipped = {},
            .mid = t.mid,
            .y = t.y};
    l.causes.node = qdq.node(n).name;
    l.causes.op_type = qdq.node(n).op_type;
    l.causes.output = qdq.name(t.value);
    if (t.residual) l.r = operand(qdq, *t.residual);
    return l;
  }

  std::optional<Decline> add_sum(const Graph& qdq, NodeId n, const Tail& t) {
    const Node& node = qdq.node(n);
    const auto a = code_source(qdq, node.inputs[0]), b = code_source(qdq, node.inputs[1]);
    if (const auto* why = std::get_if<Decline>(&a)) return *why;
    if (const auto* why = std::get_if<Decline>(&b)) return *why;
    Layer l = layer_for(qdq, n, t, tail_of(qdq, t, true));
    l.x = operand(qdq, std::get<CodeSource>(a));
    l.r = operand(qdq, std::get<CodeSource>(b));
    return keep(std::move(l));
  }

  std::optional<Decline> keep(Layer l) {
    if (l.x.value.empty() || (l.r && l.r->value.empty()))
      return Decline{"operands enter the graph as codes"};
    layers.push_back(std::move(l));
    return std::nullopt;
  }

  std::optional<Decline> add_linear(const Graph& plain, const Graph& qdq, NodeId n, const Tail& t) {
    const Node& node = qdq.node(n);
    const auto x = code_source(qdq, node.inputs[0]);
    if (const auto* why = std::get_if<Decline>(&x)) return *why;
    const auto original = plain.find_node(node.name);
    if (!original || plain.node(*original).op_type != node.op_type)
      return Decline{"the float graph has no such node"};
    const Node& source = plain.node(*original);
    const Tensor* w = plain.constant(source.inputs[1]);
    const auto axis = w != nullptr ? weight_axis(plain, source) : 0;
    const auto coded = coded_weights(qdq, node.inputs[1], axis);
    if (const auto* why = std::get_if<Decline>(&coded)) return *why;
    if (w == nullptr || w->dtype() != DType::float32)
      return Decline{"the float graph's weight is not a float32 constant"};
    Layer l = layer_for(qdq, n, t, tail_of(qdq, t, t.residual.has_value()));
    l.x = operand(qdq, std::get<CodeSource>(x));
    const bool has_bias = source.has_input(2) && node.has_input(2);
    if (has_bias) {
      const Tensor* b = plain.constant(source.inputs[2]);
      if (b == nullptr) return Decline{"the float graph's bias is not constant"};
      const auto file = coded_bias(qdq, node.inputs[2], b->numel());
      if (const auto* why = std::get_if<Decline>(&file)) return *why;
      l.b = b->reshaped({b->numel()});
      l.b_file = std::get<Tensor>(file);
    }
    l.head.emplace(head_of(qdq, node, has_bias));
    set_weights(l, *w, std::get<CodedWeights>(coded), axis);
    return keep(std::move(l));
  }

  static void set_weights(Layer& l, const Tensor& w, const CodedWeights& coded, std::int64_t axis) {
    l.w = w;
    l.w_file = Tensor(DType::float32, w.shape());
    l.w_clipped.resize(static_cast<std::size_t>(w.numel()));
    const std::int64_t inner = w.shape().numel(axis + 1, w.shape().rank());
    const auto codes = coded.codes.data<std::int8_t>();
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto channel =
          static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % w.shape()[axis]);
      const float scale = coded.scales[coded.scales.size() == 1 ? 0 : channel];
      l.w_file.mutable_data<float>()[i] = dequantize_value(codes[i], 0, scale);
      const double steps = static_cast<double>(w.data<float>()[i]) / static_cast<double>(scale);
      l.w_clipped[i] = std::abs(steps) > 127.5 ? 1 : 0;
    }
  }

  static void add_batch(Layer& l, const std::map<std::string, Tensor>& golden,
                        const std::map<std::string, Tensor>& actual) {
    const Sources g{golden.at(l.x.value), l.r ? golden.at(l.r->value) : Tensor(), l.w, l.b};
    const Tensor right = evaluate(l, g, false);
    const auto share = [&](const Sources& s, bool requantize = false) {
      return energy(evaluate(l, s, requantize), right);
    };
    const auto with_operands = [&](Part part) {
      Sources s = g;
      s.x = quantized(g.x, l.x.params, part);
      if (l.r) s.r = quantized(g.r, l.r->params, part);
      return share(s);
    };
    LayerCauses& c = l.causes;
    c.count += right.numel();
    c.signal += energy(right);
    c.activation_rounding += with_operands(Part::rounding);
    c.activation_clipping += with_operands(Part::clipping);
    c.requantization += share(g, true);
    Sources inherited = g;
    inherited.x = actual.at(l.x.value);
    if (l.r) inherited.r = actual.at(l.r->value);
    c.inherited += share(inherited);
    if (l.head) {
      Sources s = g;
      s.w = mixed_weights(l, false);
      c.weight_rounding += share(s);
      s.w = mixed_weights(l, true);
      c.weight_clipping += share(s);
      s.w = g.w;
      s.b = l.b_file;
      if (l.b.defined()) c.bias += share(s);
    }
    Sources all{quantized(inherited.x, l.x.params, Part::all),
                l.r ? quantized(inherited.r, l.r->params, Part::all) : Tensor(), l.w_file,
                l.b_file};
    c.total += share(all, true);
  }
};

CauseSplitter::CauseSplitter(const Graph& plain, const Graph& qdq)
    : impl_(std::make_unique<Impl>()) {
  impl_->collect(plain, qdq);
}
CauseSplitter::~CauseSplitter() = default;
CauseSplitter::CauseSplitter(CauseSplitter&&) noexcept = default;

std::set<std::string> CauseSplitter::values() const {
  std::set<std::string> names;
  for (const Layer& l : impl_->layers) {
    names.insert(l.x.value);
    if (l.r) names.insert(l.r->value);
  }
  return names;
}

void CauseSplitter::add(const std::map<std::string, Tensor>& golden,
                        const std::map<std::string, Tensor>& actual) {
  for (Layer& l : impl_->layers) Impl::add_batch(l, golden, actual);
}

std::vector<LayerCauses> CauseSplitter::layers() const {
  std::vector<LayerCauses> found;
  for (const Layer& l : impl_->layers) found.push_back(l.causes);
  return found;
}

const std::map<std::string, std::string>& CauseSplitter::skipped() const { return impl_->skipped; }

}  // namespace assay
