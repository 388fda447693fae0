// Fused operators of Assay's own domain as the fusing rules write them: base operator, optional residual Add, optional activation.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "fusion/rewrite.h"

namespace assay {

/// Operator types that may follow a linear operator as its activation.
inline constexpr const char* activation_types = "Relu|Clip|HardSwish|HardSigmoid|Sigmoid|Tanh|LeakyRelu";

/// An activation with its parameters, as attributes of the fused node.
struct Activation {
  std::string type;
  Attributes attributes = {};
};

/// The node as an activation, or why it cannot be part of a fused operator: a bound that is not constant, not a scalar, of another
/// type, or (float64 graphs) not a float32 number.
std::variant<Decline, Activation> as_activation(const RuleContext& ctx, NodeId n);

/// What a node already holds: a plain Conv, or a fused one.
struct FusedParts {
  std::string base;  ///< Conv, ConvTranspose, Gemm, MatMul, Add
  bool add = false;
  std::string activation = {};
};
std::optional<FusedParts> fused_parts(const Node& node);

/// The fused form of `node` with a residual and/or an activation more; inputs and attributes of the node are kept.
Node with_parts(const Node& node, ValueId residual, const std::optional<Activation>& activation);

}  // namespace assay
