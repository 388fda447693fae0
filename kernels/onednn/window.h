// The geometry of convolutions and pools: ONNX attributes to oneDNN's strides, dilations and
// paddings.
#pragma once

#include <vector>

#include "kernels/kernel.h"

namespace assay::kernels {

/// Spatial axes only. Dilations count from 0 as oneDNN's do.
struct Window {
  std::vector<std::int64_t> kernel = {}, strides = {}, dilations = {}, pads_begin = {},
                            pads_end = {};
  bool pointwise() const;  ///< 1x1 kernel, stride 1, no padding
};

/// `kernel` are the spatial kernel sizes. auto_pad is resolved; pads_end is what the known output
/// size needs, so that ceil_mode and output_padding need no further care. Transposed: `in` and
/// `out` change places.
Window window_of(const Attributes& attributes, std::vector<std::int64_t> kernel, const Shape& in,
                 const Shape& out, bool transposed = false);

}  // namespace assay::kernels
