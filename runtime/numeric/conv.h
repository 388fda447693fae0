#pragma once
// Convolution and transposed convolution of rank 1 to 3, any group, stride, dilation and padding.
//
//   y[n][o][p] = sum_{c, t} x[n][c][p * stride - pad + t * dilation] * w[o][c][t] + bias[o] +
//   residual[n][o][p]
//
// The terms are ordered k = (c, t_depth, t_height, t_width), c within the group. In the transposed
// form each output gathers the inputs that reach it, ordered (c, input depth, height, width)
// ascending; taps that fall between inputs (stride > 1) are no terms and have no k. Padding taps
// have a k (it cuts the blocks of kDotBlock terms).
//
// Padding taps do not take part. In canonical order this is the same as fma(w, +0, s) when w is
// finite, which is what runs (it differs only where s is an underflowed -0, and is defined so); a
// non-finite weight is skipped at a padding tap, so no 0 * inf arises.
//
// DotMode, rounding, special values and final steps are those of gemm.h: canonical adds bias and
// then residual, each rounded; correct rounds the exact total once.
#include "runtime/numeric/conv_shape.h"
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/parallel.h"

namespace assay {

template <typename T>
struct ConvArgs {
  ConvShape shape;
  const T* x = nullptr;
  const T* w = nullptr;
  const T* bias = nullptr;      // [out_channels] or nullptr
  const T* residual = nullptr;  // laid out as y, or nullptr; may equal y
  T* y = nullptr;
  // Called once on every element of y, in ranges, as soon as it has its value; it may change them.
  // conv_transpose takes none.
  const RangeFn* tail = nullptr;
};

// T = float, double. Depthwise shapes take their own kernel with the same bits.
template <typename T>
void conv(const ConvArgs<T>& args, DotMode mode);
template <typename T>
void conv_transpose(const ConvArgs<T>& args, DotMode mode);

// Packs the weights once for many calls: conv_packed(args, mode, pack_conv_weights(...)). args.w
// must still be valid in conv_packed, which goes back to it for the elements it has to settle
// exactly.
template <typename T>
PackedWeights pack_conv_weights(const ConvShape& shape, const T* w, DotMode mode);
template <typename T>
void conv_packed(const ConvArgs<T>& args, DotMode mode, const PackedWeights& weights);

}  // namespace assay
