#pragma once
// The geometry of a convolution, shared by every evaluation and by the integer kernels.
#include <array>
#include <cstdint>
#include <span>

namespace assay {

// Always three spatial axes (depth, height, width); a lower rank leaves the leading ones at 1.
//   input position = out * stride - pad + tap * dilation.
// x is [batch, in_channels, in...]; y is [batch, out_channels, out...];
// w is [out_channels, in_channels / groups, kernel...] for conv and
//      [in_channels, out_channels / groups, kernel...] for conv_transpose.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  std::array<int64_t, 3> in{1, 1, 1};
  std::array<int64_t, 3> kernel{1, 1, 1};
  std::array<int64_t, 3> out{1, 1, 1};
  std::array<int64_t, 3> stride{1, 1, 1};
  std::array<int64_t, 3> dilation{1, 1, 1};
  std::array<int64_t, 3> pad{0, 0, 0};  // at the beginning of each axis; may be negative (a crop)

  int64_t in_spatial() const { return in[0] * in[1] * in[2]; }
  int64_t out_spatial() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

// ONNX attributes; the spans hold one value per spatial axis (1 to 3 of them). An empty span means
// the default (stride 1, dilation 1, pad 0, output_padding 0).
struct ConvGeometry {
  std::span<const int64_t> x_shape;  // [batch, channels, spatial...]
  std::span<const int64_t> w_shape;
  std::span<const int64_t> strides;
  std::span<const int64_t> dilations;
  std::span<const int64_t> pads_begin;
  std::span<const int64_t> pads_end;
  std::span<const int64_t> output_padding;  // ConvTranspose only
  int64_t groups = 1;
};

// out = floor((in + pads - dilation * (kernel - 1) - 1) / stride) + 1, at least 0.
ConvShape conv_shape(const ConvGeometry& geometry);

// out = stride * (in - 1) + output_padding + dilation * (kernel - 1) + 1 - pads.
ConvShape conv_transpose_shape(const ConvGeometry& geometry);

// Products per output: in_channels / groups * kernel_size. For a transposed convolution this is an
// upper bound; strides leave some taps out.
int64_t dot_length(const ConvShape& shape);

}  // namespace assay
