// Broadcasting of binary operators before opset 7: attributes `broadcast` and `axis`. With
// broadcast = 1 the second operand's axes are laid onto the first operand's axes from `axis` on
// (the trailing ones when `axis` is absent).
#pragma once

#include "runtime/ops/support/infer.h"

namespace assay::ops {

/// Sizes of the second operand as numpy broadcasting wants them. Throws Error when the operands
/// need broadcast = 1 to fit.
Dims legacy_operand(const Attributes& attributes, const Dims& a, const Dims& b);

/// Infer of a binary operator at any opset; `result` of undefined means the operands' type.
void infer_binary(InferContext& c, DType result);

/// The second operand, viewed for numpy broadcasting.
Tensor second_operand(const EvalContext& c);

}  // namespace assay::ops
