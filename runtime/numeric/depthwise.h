#pragma once
// Depthwise convolution (one input channel per group): outputs of a row are formed straight from
// the padded planes, without packing panels that would be used once. Same chains, same tiles, so
// the same bits as the blocked path.
#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/gemm_driver.h"

namespace assay::dot {

// One input channel per group and all taps in one block of the canonical order.
bool depthwise_applies(const ConvPlan& plan);

// planes as im2col_planes gives them (with its slack), w as in ConvArgs. `norms`: tiles carry
// col_norm.
template <typename S, typename C>
void run_depthwise(const ConvPlan& plan, const S* planes, const S* w, const TileSink<C>& sink,
                   bool norms);

}  // namespace assay::dot
