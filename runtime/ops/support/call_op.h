// Running a standard operator inside another one (fused operators, functions of other tools).
#pragma once

#include "runtime/op.h"

namespace assay::ops {

/// Opset of ai.onnx whose semantics inner operators have.
inline constexpr std::int64_t kInnerOpset = 20;

/// A node of ai.onnx without wiring.
Node inner_node(const std::string& op_type, Attributes attributes = {});

/// How an inner operator runs. With `state` and `constant_input` it may keep packed weights like a
/// node of its own.
struct InnerCall {
  Precision precision = Precision::f32;
  std::int64_t opset = kInnerOpset;
  std::shared_ptr<void>* state = nullptr;
  std::vector<char> constant_input = {};
};

/// Output 0 of `node` on `inputs` (undefined() where absent). The node's own input and output ids
/// are ignored.
Tensor call_op(const Node& node, std::vector<Tensor> inputs, const InnerCall& call);

/// Type of output 0 of `node` on the types of `c`'s inputs [0, count).
TensorType infer_inner(const InferContext& c, const Node& node, std::size_t count);

}  // namespace assay::ops
