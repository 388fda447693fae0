#include "runtime/executor.h"

#include <chrono>

#include "runtime/infer.h"
#include "runtime/tail.h"

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
  std::vector<const OpDef*> ops;                 // per position in `order`
  std::vector<std::vector<ValueId>> last_read;   // values to free after each position
  std::vector<std::vector<std::size_t>> chains;  // tail_chains
  std::map<ValueId, Tensor> initializers;        // widened
  mutable std::vector<std::shared_ptr<void>>
      states;  // per position: what a node keeps between runs
  mutable std::map<const Graph*, std::unique_ptr<Executor>> bodies;

  using Values = std::vector<Tensor>;  // by value index; undefined() where not computed or freed

  struct Run {
    Observer* observer = nullptr;
    const std::set<std::string>& also;
    Values values = {};
    std::vector<char> done = {};  // by position: ran as another node's tail
  };

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
    chains = tail_chains({graph, order, ops}, precision);
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

  std::vector<TensorType> output_types(std::size_t i, const EvalContext& c) const {
    std::vector<TensorType> types;
    std::vector<const Tensor*> tensors;
    for (const Tensor& t : c.inputs) {
      types.push_back(t.defined() ? TensorType::of(t) : TensorType{});
      tensors.push_back(t.defined() ? &t : nullptr);
    }
    return infer_node(graph, order[i], types, tensors, precision);
  }

  void allocate_outputs(std::size_t i, EvalContext& c) const {
    const auto out = output_types(i, c);
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

  /// The node at `j` on elements of `y`, its operand `operand` and output; empty when it is not
  /// elementwise here.
  RangeFn tail_step(std::size_t j, ValueId operand, const Tensor& y, const Run& run) const {
    EvalContext c = context_for(j, run.values);
    const auto& inputs = c.node->inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), operand) - inputs.begin();
    c.inputs[static_cast<std::size_t>(at)] = y;
    const TensorType out = output_types(j, c).at(0);
    if (!out.known() || out.dtype != y.dtype() || out.shape() != y.shape()) return {};
    c.outputs = {y};
    try {
      return ops[j]->elementwise.prepare(c);
    } catch (const Error& e) {
      throw e.at(place_of(graph, order[j]));
    }
  }

  /// The steps of the chain behind node `i` that can run on its output. What they make of it is
  /// the value of the last one's node, so an inner value that is wanted ends the chain.
  std::vector<RangeFn> tail_steps(std::size_t i, const EvalContext& c, const Run& run) const {
    std::vector<RangeFn> steps;
    if (chains[i].empty() || run.observer != nullptr || !c.outputs[0].defined()) return steps;
    const DType type = c.outputs[0].dtype();
    if (type != DType::float32 && type != DType::float64) return steps;
    ValueId value = c.node->outputs[0];
    for (const std::size_t j : chains[i]) {
      if (run.also.count(graph.name(value)) != 0) break;
      RangeFn step = tail_step(j, value, c.outputs[0], run);
      if (!step) break;
      steps.push_back(std::move(step));
      value = graph.node(order[j]).outputs[0];
    }
    return steps;
  }

  void evaluate(std::size_t i, EvalContext& c) const {
    const OpDef& def = *ops[i];
    const Eval eval = precision == Precision::cr && def.cr != nullptr ? def.cr : def.eval;
    try {
      eval(c);
    } catch (const Error& e) {
      throw e.at(place_of(graph, order[i]));
    }
  }

  void run_node(std::size_t i, Run& run) const {
    EvalContext c = context_for(i, run.values);
    allocate_outputs(i, c);
    const std::vector<RangeFn> steps = tail_steps(i, c, run);
    const RangeFn tail = [&steps](std::int64_t first, std::int64_t last) {
      for (const RangeFn& step : steps) step(first, last);
    };
    if (!steps.empty()) c.tail = &tail;
    evaluate(i, c);
    for (std::size_t k = 0; k < steps.size(); ++k) run.done[chains[i][k]] = 1;
    const std::size_t last = steps.empty() ? i : chains[i][steps.size() - 1];
    store_outputs(last, c, run.values);
  }

  /// Outputs of the node at `i`, from the context of the node that made them.
  void store_outputs(std::size_t i, EvalContext& c, Values& values) const {
    const auto& outputs = graph.node(order[i]).outputs;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const ValueId v = outputs[k];
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
    Run state{.observer = observer, .also = also};
    Values& values = state.values;
    values.resize(value_slots());
    state.done.assign(order.size(), 0);
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
      if (state.done[i] == 0) run_node(i, state);
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
