#include "runtime/executor.h"

#include <chrono>

#include "runtime/infer.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

std::string quoted_inputs(const Graph& g) {
  std::string text;
  for (const ValueId v : g.inputs()) text += (text.empty() ? "'" : ", '") + g.name(v) + "'";
  return text.empty() ? "no inputs" : text;
}

void check_feed(const Graph& g, ValueId v, const Tensor& t) {
  const ValueType& want = g.value(v).type;
  const std::string where = "input '" + g.name(v) + "'";
  if (want.dtype != DType::undefined && t.dtype() != want.dtype) {
    throw Error({.what = "wrong element type",
                 .where = where,
                 .got = describe(t),
                 .expected = to_string(want)});
  }
  if (!want.dims) return;
  bool fits = static_cast<std::int64_t>(want.dims->size()) == t.shape().rank();
  for (std::int64_t i = 0; fits && i < t.shape().rank(); ++i) {
    const std::int64_t size = (*want.dims)[static_cast<std::size_t>(i)].size;
    fits = size < 0 || size == t.shape()[i];
  }
  if (!fits)
    throw Error(
        {.what = "wrong shape", .where = where, .got = describe(t), .expected = to_string(want)});
}

}  // namespace

std::map<std::string, Shape> shapes_of(const Feeds& feeds) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, t] : feeds) shapes[name] = t.shape();
  return shapes;
}

void check_feeds(const Graph& g, const Feeds& feeds) {
  for (const auto& [name, tensor] : feeds) {
    const auto v = g.find_value(name);
    if (!v || !g.value(*v).is_input) {
      const bool constant = v && g.constant(*v) != nullptr;
      throw Error({.what = constant ? "a constant of the model cannot be given"
                                    : "the model has no such input",
                   .got = "'" + name + "'",
                   .expected = quoted_inputs(g)});
    }
    check_feed(g, *v, tensor);
  }
  for (const ValueId v : g.inputs()) {
    if (!feeds.count(g.name(v)) && !g.value(v).initializer.defined()) {
      throw Error({.what = "input is not given",
                   .where = "input '" + g.name(v) + "'",
                   .expected = to_string(g.value(v).type),
                   .advice = "give it with --input " + g.name(v) + "=FILE"});
    }
  }
}

struct Executor::Plan {
  Graph graph;
  Precision precision;
  std::vector<NodeId> order;
  std::vector<const OpDef*> ops;                // per position in `order`
  std::vector<std::vector<ValueId>> last_read;  // values to free after each position
  std::map<ValueId, Tensor> initializers;       // widened
  mutable std::vector<std::shared_ptr<void>>
      states;  // per position: what a node keeps between runs
  mutable std::map<const Graph*, std::unique_ptr<Executor>> bodies;

  using Values = std::vector<Tensor>;  // by value index; undefined() where not computed or freed

  void prepare() {
    order = graph.topological_order();
    std::map<ValueId, std::size_t> last;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node& node = graph.node(order[i]);
      ops.push_back(&require_op(node, graph.opset(node.domain)));
      for (const ValueId v : node.inputs) last[v] = i;
      for (const ValueId v : node.captures) last[v] = i;
      for (const ValueId v : node.outputs) last.emplace(v, i);
    }
    last_read.resize(order.size());
    for (const auto& [v, i] : last) {
      if (v.valid() && !graph.is_output(v) && !graph.value(v).initializer.defined())
        last_read[i].push_back(v);
    }
    states.resize(order.size());
    for (const ValueId v : graph.value_ids()) {
      const Tensor& t = graph.value(v).initializer;
      if (t.defined()) initializers[v] = convert(t, widened(t.dtype(), precision));
    }
  }

  std::size_t value_slots() const {
    const auto ids = graph.value_ids();
    return ids.empty() ? 0 : static_cast<std::size_t>(ids.back().index) + 1;
  }

  std::vector<Tensor> run_body(const Graph& body, const std::vector<Tensor>& inputs,
                               const Values& outer) const {
    auto& executor = bodies[&body];
    if (!executor) executor = std::make_unique<Executor>(body, precision);
    Feeds feeds;
    if (inputs.size() != body.inputs().size()) {
      throw Error({.what = "subgraph called with the wrong number of inputs",
                   .got = std::to_string(inputs.size()),
                   .expected = std::to_string(body.inputs().size())});
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) feeds[body.name(body.inputs()[i])] = inputs[i];
    for (const ValueId v : body.captures()) {
      const auto source = graph.find_value(body.name(v));
      ASSAY_ASSERT(source.has_value());
      feeds[body.name(v)] = outer[static_cast<std::size_t>(source->index)];
    }
    const auto found = executor->plan_->run(feeds, nullptr, {});
    std::vector<Tensor> outputs;
    for (const ValueId v : body.outputs()) outputs.push_back(found.at(body.name(v)));
    return outputs;
  }

  EvalContext context_for(std::size_t i, const Values& values) const {
    const Node& node = graph.node(order[i]);
    EvalContext c;
    c.node = &node;
    c.opset = graph.opset(node.domain);
    c.precision = precision;
    c.state = &states[i];
    for (const ValueId v : node.inputs) {
      c.inputs.push_back(v.valid() ? values[static_cast<std::size_t>(v.index)] : Tensor());
      c.constant_input.push_back(v.valid() && graph.constant(v) != nullptr);
    }
    c.run_subgraph = [this, &values](const Graph& body, const std::vector<Tensor>& inputs) {
      return run_body(body, inputs, values);
    };
    return c;
  }

  /// An input of the output's type that this node is the last to read, and whose memory only the
  /// run's own value and the context hold.
  const Tensor* spent_input(std::size_t i, const EvalContext& c, const TensorType& out) const {
    const auto& inputs = graph.node(order[i]).inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const Tensor& t = c.inputs[k];
      if (!t.defined() || t.dtype() != out.dtype || t.shape() != out.shape()) continue;
      const auto& last = last_read[i];
      if (std::find(last.begin(), last.end(), inputs[k]) == last.end()) continue;
      if (t.memory().use_count() == 2) return &t;
    }
    return nullptr;
  }

  void allocate_outputs(std::size_t i, EvalContext& c) const {
    std::vector<TensorType> types;
    std::vector<const Tensor*> tensors;
    for (const Tensor& t : c.inputs) {
      types.push_back(t.defined() ? TensorType::of(t) : TensorType{});
      tensors.push_back(t.defined() ? &t : nullptr);
    }
    const auto out = infer_node(graph, order[i], types, tensors, precision);
    if (ops[i]->in_place && out.size() == 1 && out[0].known()) {
      if (const Tensor* spent = spent_input(i, c, out[0])) return c.outputs.push_back(*spent);
    }
    try {
      for (const TensorType& t : out)
        c.outputs.push_back(t.known() ? Tensor(t.dtype, t.shape()) : Tensor());
    } catch (const Error& e) {
      throw e.at(place_of(graph, order[i]));
    }
  }

  void run_node(std::size_t i, Values& values) const {
    EvalContext c = context_for(i, values);
    allocate_outputs(i, c);
    const OpDef& def = *ops[i];
    const Eval eval = precision == Precision::cr && def.cr != nullptr ? def.cr : def.eval;
    try {
      eval(c);
    } catch (const Error& e) {
      throw e.at(place_of(graph, order[i]));
    }
    for (std::size_t k = 0; k < c.node->outputs.size(); ++k) {
      const ValueId v = c.node->outputs[k];
      if (!v.valid()) continue;
      if (!c.outputs[k].defined()) {
        throw Error({.what = "operator gave no output " + std::to_string(k),
                     .where = place_of(graph, order[i]),
                     .kind = ErrorKind::unsupported});
      }
      values[static_cast<std::size_t>(v.index)] = std::move(c.outputs[k]);
    }
  }

  std::map<std::string, Tensor> run(const Feeds& feeds, Observer* observer,
                                    const std::set<std::string>& also) const {
    Values values(value_slots());
    for (const auto& [v, t] : initializers) values[static_cast<std::size_t>(v.index)] = t;
    std::map<std::string, Tensor> kept;
    const auto computed = [&](ValueId v) {
      if (!v.valid()) return;
      const Tensor& t = values[static_cast<std::size_t>(v.index)];
      if (observer != nullptr) observer->on_value(graph, v, t);
      if (also.count(graph.name(v))) kept[graph.name(v)] = t;
    };
    for (const auto& [name, tensor] : feeds) {
      const ValueId v = *graph.find_value(name);
      values[static_cast<std::size_t>(v.index)] =
          convert(tensor, widened(tensor.dtype(), precision));
      computed(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto start = Clock::now();
      run_node(i, values);
      if (observer != nullptr) {
        observer->on_node(graph, order[i],
                          std::chrono::duration<double>(Clock::now() - start).count());
      }
      for (const ValueId v : graph.node(order[i]).outputs) computed(v);
      for (const ValueId v : last_read[i]) values[static_cast<std::size_t>(v.index)] = Tensor();
      if (observer != nullptr && observer->stop()) break;
    }
    for (const ValueId v : graph.outputs()) {
      const Tensor& t = values[static_cast<std::size_t>(v.index)];
      if (t.defined()) kept[graph.name(v)] = t;
    }
    return kept;
  }
};

Executor::Executor(Graph graph, Precision precision) : plan_(std::make_unique<Plan>()) {
  plan_->graph = std::move(graph);
  plan_->precision = precision;
  plan_->prepare();
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

const Graph& Executor::graph() const { return plan_->graph; }
Precision Executor::precision() const { return plan_->precision; }

std::map<std::string, Tensor> Executor::run(const Feeds& feeds, Observer* observer,
                                            const std::set<std::string>& also) const {
  check_feeds(plan_->graph, feeds);
  return plan_->run(feeds, observer, also);
}

}  // namespace assay
