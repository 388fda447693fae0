// Operators that are defined through another operator: runs the registered one, correctly rounded.
#pragma once

#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

/// Output 0 of the standard operator `type` (opset 19) on these tensors; undefined() stands for an
/// absent input.
Tensor run_standard(const std::string& type, const Attributes& attributes,
                    const std::vector<Tensor>& inputs);

/// Type of its output 0 for these input types.
TensorType infer_standard(const std::string& type, const Attributes& attributes,
                          const std::vector<TensorType>& inputs);

}  // namespace assay::ops
