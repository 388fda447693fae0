// Windows of convolutions and pools: attributes, auto_pad and output sizes, in one place.
//
//   extent = dilation * (kernel - 1) + 1
//   out    = floor or ceil((in + pad_begin + pad_end - extent) / stride) + 1
// auto_pad: SAME_* takes out = ceil(in / stride) and splits the padding that needs, the odd one at
// the end (UPPER) or at the beginning (LOWER); VALID is no padding. With ceil_mode a last window
// that would start inside the end padding is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/numeric/conv_shape.h"
#include "runtime/op.h"

namespace assay::ops {

using Sizes = std::vector<std::int64_t>;

struct Window {
  Sizes kernel;
  Sizes strides;
  Sizes dilations;
  Sizes pads_begin;
  Sizes pads_end;
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;

  std::size_t rank() const { return kernel.size(); }
  std::int64_t extent(std::size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode for the given kernel sizes (-1 where
/// unknown). Throws Error when an attribute has the wrong length or a stride, dilation or kernel
/// size is not positive.
Window read_window(const Attributes& attributes, const Sizes& kernel);

/// Padding and output size of one axis.
struct AxisPlan {
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t out = -1;
};

/// `in` of -1 gives out = -1.
AxisPlan plan_axis(const Window& w, std::size_t axis, std::int64_t in);

/// Of a transposed convolution; output_padding and output_shape are attributes (empty: not given).
AxisPlan plan_transposed_axis(const Window& w, std::size_t axis, std::int64_t in,
                              const Sizes& output_padding, const Sizes& output_shape);

/// The geometry of Conv (or ConvTranspose) on known shapes. Throws Error for ranks other than 3 to
/// 5 and channel counts that do not fit the group.
ConvShape read_conv_shape(const Attributes& attributes, const Shape& x, const Shape& w,
                          bool transposed);

/// Output type of Conv or ConvTranspose; unknown sizes stay -1.
void infer_conv(InferContext& c, bool transposed);

}  // namespace assay::ops
