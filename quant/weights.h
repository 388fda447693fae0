// Weights and biases as codes.
//
//   w_scale[c] = f32(max|w[c]| / 127)     code = clamp(rhe(w / w_scale[c]), -127, 127)
//   b_scale[c] = f32(x_scale * w_scale[c])  code = rhe(b / b_scale[c])
//
// A bias whose code would leave int32 raises its channel's weight scale until it fits. That costs
// nothing that shows: the weight error is then at most w_scale/2 = |b| / (2^32 x_scale) per weight,
// and |x| <= 255 x_scale, so over K products at most K * 255 * 2^-32 * |b|, 6e-8 K of the bias
// itself. A channel without a usable scale (all weights zero, or too small) is dead: codes 0, scale
// that of its live neighbours' largest (1 when there is none), so that its bias keeps a fine step.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace assay {

struct WeightRequest {
  Tensor weight;          ///< float32
  Tensor bias = {};       ///< float32 [channels], or undefined()
  std::int64_t axis = 0;  ///< of the output channel in `weight`
  bool per_channel = true;
  float x_scale = 1;
};

struct QuantizedWeights {
  Tensor codes;                           ///< int8, shape of the weight
  Tensor scales;                          ///< float32 [channels], or a scalar when per tensor
  Tensor bias_codes = {};                 ///< int32 [channels]
  Tensor bias_scales = {};                ///< float32 [channels]
  std::vector<std::int64_t> dead = {};    ///< channels (index along the axis)
  std::vector<std::int64_t> raised = {};  ///< channels whose scale was raised for the bias
};

/// Throws Error naming the channel when a weight or bias is not finite. The bias must have as many
/// elements as the axis.
QuantizedWeights quantize_weights(const WeightRequest& request);

}  // namespace assay
