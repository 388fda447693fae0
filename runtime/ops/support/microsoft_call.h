// ONNX Runtime's fused convolution as a FusedCall: attributes of Conv, `activation`,
// `activation_params`, residual as input 3.
#pragma once

#include "runtime/ops/support/fused_eval.h"

namespace assay::ops {

FusedCall microsoft_conv_call(const Node& node);

}  // namespace assay::ops
