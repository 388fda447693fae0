// If (1, 11, 13, 16, 19, 21) and Loop (1, 11, 13, 16, 19, 21): subgraphs run by the executor, which
// also hands them the outer values they read.
//
// Loop: for i = 0, 1, ... while i < M (when given) and cond (when given): (cond, states, scans) =
// body(i, cond, states). Outputs: the last states, then every scan output stacked along a new first
// axis. Without an iteration a scan output has the size 0 there and the sizes that the body
// declares (0 where it declares none).
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/stack.h"

namespace assay::ops::control_flow_op {
namespace {

bool read_flag(const Tensor& t) {
  if (t.numel() == 1 && t.dtype() == DType::boolean) return t.data<bool>()[0];
  throw Error({.what = "a condition must be one bool", .got = describe(t)});
}

/// Declared type of output `i` of a subgraph.
TensorType declared_output(const InferContext& c, const Graph& body, std::size_t i) {
  if (i >= body.outputs().size()) return {};
  const ValueType& t = body.value(body.outputs()[i]).type;
  TensorType type{t.dtype == DType::undefined ? t.dtype : c.widen(t.dtype), std::nullopt};
  return type;
}

void infer_if(InferContext& c) {
  const Graph& yes = c.attributes().required_graph("then_branch");
  c.attributes().required_graph("else_branch");
  for (std::size_t i = 0; i < c.output_count(); ++i) c.set_output(i, declared_output(c, yes, i));
}

void eval_if(EvalContext& c) {
  const bool yes = read_flag(c.input(0));
  const Graph& branch = c.attributes().required_graph(yes ? "then_branch" : "else_branch");
  auto results = c.run_subgraph(branch, {});
  if (results.size() < c.outputs.size()) {
    throw Error({.what = "branch has too few outputs",
                 .got = std::to_string(results.size()),
                 .expected = std::to_string(c.outputs.size())});
  }
  for (std::size_t i = 0; i < c.outputs.size(); ++i) c.output(i) = results[i];
}

void infer_loop(InferContext& c) {
  const Graph& body = c.attributes().required_graph("body");
  for (std::size_t i = 0; i < c.output_count(); ++i)
    c.set_output(i, declared_output(c, body, i + 1));
}

class LoopRun {
 public:
  explicit LoopRun(EvalContext& c)
      : c_(c),
        body_(c.attributes().required_graph("body")),
        states_(c.inputs.size() < 2 ? 0 : c.inputs.size() - 2) {
    if (body_.inputs().size() != states_ + 2 || body_.outputs().size() < states_ + 1) {
      throw Error({.what = "loop body does not fit the loop",
                   .got = std::to_string(body_.inputs().size()) + " inputs, " +
                          std::to_string(body_.outputs().size()) + " outputs",
                   .expected = std::to_string(states_ + 2) + " inputs"});
    }
    carried_.assign(c.inputs.begin() + static_cast<std::ptrdiff_t>(c.inputs.size() - states_),
                    c.inputs.end());
    for (std::size_t i = states_ + 1; i < body_.outputs().size(); ++i)
      scans_.emplace_back(declared_item(c, body_, i));
  }

  void run() {
    std::int64_t limit = INT64_MAX;
    if (c_.has_input(0)) {
      const IntList m = input_ints(c_, 0);
      require_count("trip counts", m.values, 1);
      limit = m.values[0];
    }
    bool go = !c_.has_input(1) || read_flag(c_.input(1));
    for (std::int64_t i = 0; i < limit && go; ++i) go = step(i);
  }

  void finish() {
    for (std::size_t i = 0; i < c_.outputs.size(); ++i) {
      if (!c_.has_output(i)) continue;
      c_.output(i) = i < states_ ? carried_[i] : scans_.at(i - states_).stacked();
    }
  }

 private:
  bool step(std::int64_t i) {
    std::vector<Tensor> inputs{Tensor::scalar<std::int64_t>(i), Tensor::scalar<bool>(true)};
    inputs.insert(inputs.end(), carried_.begin(), carried_.end());
    auto results = c_.run_subgraph(body_, inputs);
    for (std::size_t k = 0; k < states_; ++k) carried_[k] = results[k + 1];
    for (std::size_t k = 0; k < scans_.size(); ++k) scans_[k].add(results[states_ + 1 + k]);
    return read_flag(results[0]);
  }

  EvalContext& c_;
  const Graph& body_;
  std::size_t states_;
  std::vector<Tensor> carried_;
  std::vector<Stack> scans_;
};

void eval_loop(EvalContext& c) {
  LoopRun loop(c);
  loop.run();
  loop.finish();
}

const RegisterOp registered{
    std::vector<OpDef>{{.type = "If", .infer = infer_if, .eval = eval_if},
                       {.type = "Loop", .infer = infer_loop, .eval = eval_loop}}};

}  // namespace
}  // namespace assay::ops::control_flow_op
