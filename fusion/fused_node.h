// Fused operators of Assay's own domain as the fusing rules write them: base operator, optional
// residual Add, optional activation (runtime/ops/fused.h states their inputs, attributes and
// roundings). The rules write rounding = staged.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "fusion/rewrite.h"
#include "runtime/ops/fused.h"

namespace assay {

/// Operator types that may follow as the activation.
inline constexpr const char* activation_types =
    "Relu|Clip|HardSwish|HardSigmoid|Sigmoid|Tanh|LeakyRelu|Elu|Gelu|Mish";
/// What may take an activation: plain linear operators, and those with a residual already.
inline constexpr const char* may_take_activation =
    "Conv|ConvTranspose|Gemm|MatMul|ai.assay.ConvAdd|ai.assay.ConvTransposeAdd|ai.assay.GemmAdd|ai."
    "assay.MatMulAdd";

/// An activation with its parameters, as attributes of the fused node.
struct Activation {
  std::string type;
  Attributes attributes = {};
};

/// The node as an activation, or why it cannot be part of a fused operator: a bound that is not
/// constant, not a scalar, of another type, or (float64 graphs) not a float32 number.
std::variant<Decline, Activation> as_activation(const RuleContext& ctx, NodeId n);

/// Why the activation cannot be part of a fused node that is written as a function of an ONNX file;
/// nullopt when it can.
std::optional<Decline> cannot_write(const RuleContext& ctx, NodeId n);

/// Why a linear node cannot become a fused one (an attribute that the fused form does not have);
/// nullopt when it can.
std::optional<Decline> cannot_fuse(const RuleContext& ctx, NodeId n);

/// The fused form of `node` (plain, or fused without an activation) with a residual and/or an
/// activation more. Inputs and attributes are kept; every attribute of the form is written out.
Node with_parts(const RuleContext& ctx, NodeId n, ValueId residual,
                const std::optional<Activation>& activation);

}  // namespace assay
