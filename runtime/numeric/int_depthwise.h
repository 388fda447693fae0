#pragma once
// Exact 8-bit depthwise convolution (one input channel per group), straight from the padded planes.
#include <cstdint>

#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/int_gemm.h"

namespace assay::dot {

// planes: the input in unsigned form with its zero point as padding and readable slack, see
// im2col.h.
void run_int_depthwise(const IntConvArgs& args, const ConvPlan& plan, const uint8_t* planes);

}  // namespace assay::dot
