#include "runtime/ops/support/call_op.h"

#include <algorithm>

namespace assay::ops {
namespace {

/// Ids only say which slots are there.
Node wired(const Node& node, const std::vector<bool>& present) {
  Node n = node;
  n.inputs.clear();
  for (std::size_t i = 0; i < present.size(); ++i) {
    n.inputs.push_back(ValueId{present[i] ? static_cast<std::int32_t>(i) : -1});
  }
  n.outputs = {ValueId{static_cast<std::int32_t>(present.size())}};
  return n;
}

}  // namespace

Node inner_node(const std::string& op_type, Attributes attributes) {
  Node node;
  node.op_type = op_type;
  node.attributes = std::move(attributes);
  return node;
}

Tensor call_op(const Node& node, std::vector<Tensor> inputs, const InnerCall& call) {
  std::vector<bool> present;
  InferContext infer;
  for (const Tensor& t : inputs) {
    present.push_back(t.defined());
    infer.input_types.push_back(t.defined() ? TensorType::of(t) : TensorType{});
    infer.constants.push_back(t.defined() ? &t : nullptr);
  }
  const Node n = wired(node, present);
  const OpDef& def = require_op(n, call.opset);
  infer.node = &n;
  infer.opset = call.opset;
  infer.precision = call.precision;
  infer.outputs.resize(1);
  def.infer(infer);
  ASSAY_ASSERT(infer.outputs[0].known());
  EvalContext c;
  std::shared_ptr<void> own_state;
  c.node = &n;
  c.opset = call.opset;
  c.precision = call.precision;
  c.outputs = {Tensor(infer.outputs[0].dtype, infer.outputs[0].shape())};
  c.inputs = std::move(inputs);
  c.state = call.state != nullptr ? call.state : &own_state;
  if (call.state != nullptr) c.constant_input = call.constant_input;
  const bool correct = call.precision == Precision::cr && def.cr != same_as_eval;
  (correct ? def.cr : def.eval)(c);
  return c.outputs[0];
}

TensorType infer_inner(const InferContext& c, const Node& node, std::size_t count) {
  std::vector<bool> present;
  InferContext inner;
  for (std::size_t i = 0; i < std::min(count, c.input_count()); ++i) {
    present.push_back(c.has_input(i));
    inner.input_types.push_back(c.input_types[i]);
    inner.constants.push_back(c.constant(i));
  }
  const Node n = wired(node, present);
  inner.node = &n;
  inner.opset = kInnerOpset;
  inner.precision = c.precision;
  inner.outputs.resize(1);
  require_op(n, kInnerOpset).infer(inner);
  return inner.outputs[0];
}

}  // namespace assay::ops
