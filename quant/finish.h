// From a convolution's or product's float value to its output code: mid rounding, residual,
// activation, requantization.
//
// Two families of profiles:
//   dequantized (onnx-qdq)   what the nodes of the QDQ graph say, each correctly rounded: v, Q/DQ
//   between Conv and Add, v + residual
//                            value, activation by its operator, QuantizeLinear.
//   float32 (onednn-v3)      v = mid as fma(v, f32(1/s), z), rne, clip, fma(q, s, f32(-z * s));
//                            v = s_r == 1 ? v + d : fma(d, s_r, v) with d = f32(r - z_r)  (v +
//                            f32(d * s_r) without fma, and for a float32 result, where the residual
//                            is dequantized first); activation;  v = v * f32(1/s_y);  v = v + z_y;
//                            clamp;  rne.
#pragma once

#include "quant/integer_form.h"
#include "runtime/integer_stats.h"
#include "runtime/tensor.h"

namespace assay {

/// Applies the activation to a float32 tensor by its registered operator, correctly rounded.
Tensor apply_activation(const IntegerActivation& activation, const Tensor& x);

/// (code - zero point) * scale, rounded to float32, for every code.
Tensor dequantize_codes(const Tensor& codes, const QuantParams& p);
/// QuantizeLinear under the profile's division; counts go to `counts` when it is not null.
Tensor quantize_codes(const Tensor& x, const QuantParams& p, Quotient division,
                      IntegerCounts* counts);

/// `linear`: float32 result of the linear part (bias included), one element per output; `residual`:
/// codes or undefined(). Returns codes, or float32 when the form's result is not quantized.
Tensor finish(const IntegerForm& form, Tensor linear, const Tensor& residual,
              IntegerCounts* counts);

/// The last stage of the float32 family: activation bounds, output scale, zero point, clamp,
/// rounding. In place when `y` is float32.
Tensor finish_float32(const IntegerForm& form, Tensor v, IntegerCounts* counts);

/// Writes `result` as output 0: float32 is widened when the evaluation widens.
void store_result(EvalContext& c, const Tensor& result);

}  // namespace assay
