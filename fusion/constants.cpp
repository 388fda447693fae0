#include "fusion/constants.h"

#include <algorithm>
#include <set>

#include "runtime/executor.h"
#include "runtime/infer.h"

namespace assay {
namespace {

bool may_differ_between_runs(const Node& node) {
  static const std::set<std::string> types = {
      "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
      "Multinomial",  "Bernoulli",        "Dropout"};
  return types.count(node.op_type) != 0;
}

bool holds_codes(const Node& node) {
  return node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear" ||
         node.op_type == "DynamicQuantizeLinear";
}

bool has_subgraph(const Node& node) {
  for (const auto& [name, attribute] : node.attributes.items()) {
    if (std::holds_alternative<GraphPtr>(attribute)) return true;
  }
  return !node.captures.empty();
}

/// The node alone, its inputs as initializers.
Graph alone(const Graph& g, NodeId n, const std::map<ValueId, const Tensor*>& inputs) {
  Graph part;
  part.info = g.info;
  Node copy = g.node(n);
  std::map<ValueId, ValueId> mapped;
  for (const auto& [v, tensor] : inputs) mapped[v] = part.add_initializer(g.name(v), *tensor);
  for (ValueId& v : copy.inputs) {
    if (v.valid()) v = mapped.at(v);
  }
  for (ValueId& v : copy.outputs) {
    if (v.valid()) v = part.add_value(g.name(v));
  }
  const auto outputs = copy.outputs;
  part.add_node(std::move(copy));
  for (const ValueId v : outputs) {
    if (v.valid()) part.add_output(v);
  }
  return part;
}

std::int64_t allowed_bytes(std::int64_t input_bytes) {
  return std::min(max_tensor_bytes(),
                  std::max(small_constant_bytes, constant_growth * input_bytes));
}

std::optional<Decline> size_refusal(const Graph& g, NodeId n,
                                    const std::vector<const Tensor*>& inputs) {
  std::vector<TensorType> types;
  std::int64_t bytes = 0;
  for (const Tensor* t : inputs) {
    types.push_back(t == nullptr ? TensorType{} : TensorType::of(*t));
    if (t != nullptr) bytes += t->bytes();
  }
  for (const TensorType& t : infer_node(g, n, types, inputs, Precision::cr)) {
    if (!t.known())
      return Decline{"the size of a result is not known before running",
                     "fix the sizes that it is computed from"};
    // Sizes are multiplied in floating point here, because a hostile shape overflows integers.
    double wanted = static_cast<double>(size_of(t.dtype));
    for (const std::int64_t d : *t.dims) wanted *= static_cast<double>(d);
    if (wanted > static_cast<double>(allowed_bytes(bytes))) {
      return Decline{"the result would take " + std::to_string(wanted / 1e6) +
                         " MB, the limit is " +
                         std::to_string(static_cast<double>(allowed_bytes(bytes)) / 1e6) + " MB",
                     "store the value as an initializer"};
    }
  }
  return std::nullopt;
}

}  // namespace

const Tensor* ConstantValues::get(const Graph& g, ValueId v) {
  if (!v.valid()) return nullptr;
  if (const Tensor* t = g.constant(v)) return t;
  const Value& value = g.value(v);
  if (!value.producer.valid()) return nullptr;
  if (const auto it = known_.find(v); it != known_.end())
    return it->second ? &*it->second : nullptr;
  const auto& outputs = g.node(value.producer).outputs;
  const auto at =
      static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), v) - outputs.begin());
  auto& slot = known_[v];
  slot = evaluate(g, value.producer, at);
  return slot ? &*slot : nullptr;
}

std::optional<Decline> ConstantValues::refusal(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (may_differ_between_runs(node))
    return Decline{"operator " + node.op_type + " is not deterministic",
                   "store the value as an initializer"};
  if (holds_codes(node))
    return Decline{"operator " + node.op_type + " holds the codes of a quantized graph",
                   "store the quantized value as an initializer, if its scale is to be given up"};
  if (has_subgraph(node))
    return Decline{"operator " + node.op_type + " has a subgraph",
                   "take the branch out of the subgraph"};
  if (find_op(node.domain, node.op_type, g.opset(node.domain)) == nullptr) {
    return Decline{
        "operator " + node.op_type + " is unknown at opset " + std::to_string(g.opset(node.domain)),
        "store the value as an initializer"};
  }
  std::vector<const Tensor*> inputs;
  for (const ValueId v : node.inputs) inputs.push_back(get(g, v));
  return size_refusal(g, n, inputs);
}

std::optional<Tensor> ConstantValues::evaluate(const Graph& g, NodeId n, std::size_t output) {
  const Node& node = g.node(n);
  if (node.inputs.empty()) return std::nullopt;
  std::map<ValueId, const Tensor*> inputs;
  for (const ValueId v : node.inputs) {
    if (!v.valid()) continue;
    const Tensor* t = get(g, v);
    if (t == nullptr) return std::nullopt;
    inputs[v] = t;
  }
  try {
    if (refusal(g, n)) return std::nullopt;
    const auto results = Executor(alone(g, n, inputs), Precision::cr).run({});
    return results.at(g.name(node.outputs[output]));
  } catch (const Error&) {
    return std::nullopt;  // the run of the graph itself reports what is wrong
  }
}

}  // namespace assay
