// Linear operators as terms of a normal form: signature, layout of the weights.
#pragma once

#include "validation/certificate/normal_form.h"

namespace assay {

/// Conv, ConvTranspose, Gemm or MatMul of ONNX.
bool is_linear(const Node& n);
/// The operator with weights `w` as a term without input and coefficients. `more_pads`: zero
/// padding in front of a Conv, begins then ends of the spatial axes. Attributes at their default
/// and spelled out give the same signature.
LinearTerm linear_term(const Node& n, const Tensor& w, const std::vector<std::int64_t>& more_pads);
std::string linear_signature(const Node& n, const Shape& w,
                             const std::vector<std::int64_t>& more_pads);
/// Input channel that weight `i` of output channel `channel` multiplies.
std::int64_t input_channel(const LinearTerm& t, std::int64_t channel, std::int64_t i);

}  // namespace assay
