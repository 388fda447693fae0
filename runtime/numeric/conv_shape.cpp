#include "runtime/numeric/conv_shape.h"

#include <algorithm>
#include <cassert>

namespace assay {
namespace {

int64_t value_or(std::span<const int64_t> values, size_t axis, int64_t fallback) {
  return values.empty() ? fallback : values[axis];
}

// Everything but the output sizes; `transposed` tells where the weights keep their channels.
ConvShape common(const ConvGeometry& g, bool transposed) {
  assert(g.x_shape.size() >= 3 && g.x_shape.size() <= 5 && g.w_shape.size() == g.x_shape.size());
  ConvShape s;
  s.batch = g.x_shape[0];
  s.in_channels = g.x_shape[1];
  s.out_channels = transposed ? g.w_shape[1] * g.groups : g.w_shape[0];
  s.groups = g.groups;
  const size_t rank = g.x_shape.size() - 2, lead = 3 - rank;
  for (size_t i = 0; i < rank; ++i) {
    s.in[lead + i] = g.x_shape[2 + i];
    s.kernel[lead + i] = g.w_shape[2 + i];
    s.stride[lead + i] = value_or(g.strides, i, 1);
    s.dilation[lead + i] = value_or(g.dilations, i, 1);
    s.pad[lead + i] = value_or(g.pads_begin, i, 0);
  }
  return s;
}

}  // namespace

ConvShape conv_shape(const ConvGeometry& g) {
  ConvShape s = common(g, false);
  const size_t rank = g.x_shape.size() - 2, lead = 3 - rank;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = lead + i;
    const int64_t room = s.in[axis] + s.pad[axis] + value_or(g.pads_end, i, 0) -
                         s.dilation[axis] * (s.kernel[axis] - 1) - 1;
    s.out[axis] = room < 0 ? 0 : room / s.stride[axis] + 1;
  }
  return s;
}

ConvShape conv_transpose_shape(const ConvGeometry& g) {
  ConvShape s = common(g, true);
  const size_t rank = g.x_shape.size() - 2, lead = 3 - rank;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = lead + i;
    const int64_t size = s.stride[axis] * (s.in[axis] - 1) + value_or(g.output_padding, i, 0) +
                         s.dilation[axis] * (s.kernel[axis] - 1) + 1 - s.pad[axis] -
                         value_or(g.pads_end, i, 0);
    s.out[axis] = std::max<int64_t>(size, 0);
  }
  return s;
}

int64_t dot_length(const ConvShape& s) { return s.in_channels / s.groups * s.kernel_size(); }

}  // namespace assay
