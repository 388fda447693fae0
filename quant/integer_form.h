// Attributes of the integer operators (domain ai.assay), read once.
//
//   QConv, QGemm  x_scale, x_zero_point, w_scales (1 or one per output channel), y_scale,
//   y_zero_point, y_dtype (ONNX number;
//                 1: the result is float32), residual_scale, residual_zero_point, mid_scale,
//                 mid_zero_point, mid_dtype, activation ("", "Relu", "Clip", "LeakyRelu",
//                 "HardSwish", ...), act_min, act_max, act_alpha, act_beta
//   QAdd          a_scale, a_zero_point, b_scale, b_zero_point, y_..., activation
//   pools         x_scale, x_zero_point, y_...
//   QConcat       x_scales, x_zero_points, y_..., axis
// and for all of them `profile`, with `acc`, `s8`, `comp`, `residual_form` where a kernel's choice
// replaces the profile's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "quant/params.h"
#include "quant/profile.h"
#include "runtime/op.h"

namespace assay {

struct IntegerActivation {
  std::string type = {};  ///< empty: none
  std::optional<float> min = {};
  std::optional<float> max = {};
  float alpha = 0;
  float beta = 0;
};

struct IntegerForm {
  QuantParams x = {};
  std::vector<float> w_scales = {1};
  QuantParams y = {};  ///< dtype float32: not quantized
  std::optional<QuantParams> residual = {};
  std::optional<QuantParams> mid = {};
  IntegerActivation activation = {};
  NumericProfile profile = {};  ///< with the node's own choices applied

  bool quantized() const { return y.dtype != DType::float32; }
  float w_scale(std::int64_t channel) const {
    return w_scales.size() == 1 ? w_scales[0] : w_scales[static_cast<std::size_t>(channel)];
  }
};

/// PREFIX_scale and PREFIX_zero_point, with the type of the codes.
QuantParams read_params(const Attributes& a, const std::string& prefix, DType dtype);
/// The profile named by the node (onnx-qdq when none is) with its own choices. Throws Error for
/// unknown names.
NumericProfile node_profile(const Attributes& a);
IntegerActivation read_activation(const Attributes& a);
/// For QConv and QGemm.
IntegerForm read_integer_form(const EvalContext& c);

/// Type of output 0 by `y_dtype`.
DType integer_output_type(const InferContext& c);

/// Throws Error: the profile does not define this operation.
[[noreturn]] void undefined_in_profile(const NumericProfile& p, const std::string& what);

}  // namespace assay
