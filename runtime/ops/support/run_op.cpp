#include "runtime/ops/support/run_op.h"

namespace assay::ops {
namespace {

constexpr std::int64_t opset = 19;

/// A node outside any graph: its ids only say which inputs are there.
Node node_for(const std::string& type, const Attributes& attributes,
              const std::vector<bool>& present) {
  Node node{.name = type, .op_type = type, .attributes = attributes};
  for (std::size_t i = 0; i < present.size(); ++i) {
    node.inputs.push_back(present[i] ? ValueId{static_cast<std::int32_t>(i)} : ValueId{});
  }
  while (!node.inputs.empty() && !node.inputs.back().valid()) node.inputs.pop_back();
  node.outputs = {ValueId{static_cast<std::int32_t>(present.size())}};
  return node;
}

std::vector<TensorType> types_of(const std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (const Tensor& t : inputs) types.push_back(t.defined() ? TensorType::of(t) : TensorType{});
  return types;
}

TensorType infer(const Node& node, const std::vector<TensorType>& types,
                 const std::vector<const Tensor*>& constants) {
  InferContext c;
  c.node = &node;
  c.opset = opset;
  c.precision = Precision::cr;
  c.input_types = types;
  c.constants = constants;
  c.outputs = {{}};
  require_op(node, opset).infer(c);
  return c.outputs[0];
}

}  // namespace

TensorType infer_standard(const std::string& type, const Attributes& attributes,
                          const std::vector<TensorType>& inputs) {
  const Node node = node_for(type, attributes, std::vector<bool>(inputs.size(), true));
  return infer(node, inputs, std::vector<const Tensor*>(inputs.size(), nullptr));
}

Tensor run_standard(const std::string& type, const Attributes& attributes,
                    const std::vector<Tensor>& inputs) {
  std::vector<bool> present;
  std::vector<const Tensor*> constants;
  for (const Tensor& t : inputs) {
    present.push_back(t.defined());
    constants.push_back(t.defined() ? &t : nullptr);
  }
  const Node node = node_for(type, attributes, present);
  const TensorType out = infer(node, types_of(inputs), constants);
  EvalContext c;
  std::shared_ptr<void> state;
  c.node = &node;
  c.opset = opset;
  c.precision = Precision::cr;
  c.inputs = inputs;
  c.outputs = {out.known() ? Tensor(out.dtype, out.shape()) : Tensor()};
  c.state = &state;
  c.constant_input.assign(inputs.size(), 0);
  const OpDef& def = require_op(node, opset);
  (def.cr != nullptr ? def.cr : def.eval)(c);
  return c.outputs[0];
}

}  // namespace assay::ops
