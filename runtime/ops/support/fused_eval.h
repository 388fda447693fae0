// Evaluation of fused operators: base operator, residual, activation. Shared by Assay's own fused
// operators and by those of ONNX Runtime (com.microsoft FusedConv, FusedGemm).
#pragma once

#include "runtime/op.h"
#include "runtime/ops/fused.h"

namespace assay::ops {

struct FusedCall {
  FusedForm form;
  Node base;                   ///< with the base's attributes
  Attributes activation = {};  ///< as of the ONNX operator
  bool single = false;
  std::size_t base_inputs = 3;
};

FusedCall fused_call(const Node& node);

void infer_fused(InferContext& c, const FusedCall& call);
void eval_fused(EvalContext& c, const FusedCall& call);
void bound_fused(BoundContext& c, const FusedCall& call);
std::int64_t macs_fused(const InferContext& c, const FusedCall& call);

/// y = activation(x) by name, rounded as the staged form does.
Tensor run_activation(const std::string& name, const Attributes& attributes, const Tensor& x,
                      Precision precision);

}  // namespace assay::ops
