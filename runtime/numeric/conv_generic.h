#pragma once
// The convolution of conv.h as plain loops over any number type with T(double), + and *:
// double-double, rationals in tests. Products and sums are those of T, terms in the order of
// conv.h, one chain.
#include "runtime/numeric/conv.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace conv_detail {

// Calls fn(input offset within a channel, weight tap) for every tap of output position p that takes
// part.
template <typename Fn>
void for_each_tap(const ConvShape& s, const std::array<int64_t, 3>& p, bool transposed,
                  const Fn& fn) {
  const auto locate = [&](int axis, int64_t tap) -> int64_t {
    if (!transposed) return p[axis] * s.stride[axis] - s.pad[axis] + tap * s.dilation[axis];
    const int64_t up = p[axis] + s.pad[axis] - tap * s.dilation[axis];
    return up >= 0 && up % s.stride[axis] == 0 ? up / s.stride[axis] : -1;
  };
  const auto tap_at = [&](int axis, int64_t t) { return transposed ? s.kernel[axis] - 1 - t : t; };
  for (int64_t d = 0; d < s.kernel[0]; ++d) {
    const int64_t z = locate(0, tap_at(0, d));
    if (z < 0 || z >= s.in[0]) continue;
    for (int64_t h = 0; h < s.kernel[1]; ++h) {
      const int64_t y = locate(1, tap_at(1, h));
      if (y < 0 || y >= s.in[1]) continue;
      for (int64_t w = 0; w < s.kernel[2]; ++w) {
        const int64_t x = locate(2, tap_at(2, w));
        if (x < 0 || x >= s.in[2]) continue;
        fn((z * s.in[1] + y) * s.in[2] + x,
           (tap_at(0, d) * s.kernel[1] + tap_at(1, h)) * s.kernel[2] + tap_at(2, w));
      }
    }
  }
}

inline std::array<int64_t, 3> position(const ConvShape& s, int64_t p) {
  return {p / (s.out[1] * s.out[2]), p / s.out[2] % s.out[1], p % s.out[2]};
}

// Offset of the weight (input channel `channel` of the group, tap 0) that feeds output channel
// `oc`.
inline int64_t weight_base(const ConvShape& s, int64_t oc, int64_t channel, bool transposed) {
  const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  if (!transposed) return (oc * in_group + channel) * s.kernel_size();
  return ((oc / out_group * in_group + channel) * out_group + oc % out_group) * s.kernel_size();
}

template <typename T>
T one_output(const ConvArgs<T>& a, int64_t row, int64_t p, bool transposed) {
  const ConvShape& s = a.shape;
  const int64_t n = row / s.out_channels, oc = row % s.out_channels;
  const int64_t in_group = s.in_channels / s.groups;
  const int64_t first_channel = n * s.in_channels + oc / (s.out_channels / s.groups) * in_group;
  T sum = T(0.0);
  for (int64_t c = 0; c < in_group; ++c) {
    const T* x = a.x + (first_channel + c) * s.in_spatial();
    const T* w = a.w + weight_base(s, oc, c, transposed);
    for_each_tap(s, position(s, p), transposed,
                 [&](int64_t at, int64_t tap) { sum = sum + x[at] * w[tap]; });
  }
  if (a.bias != nullptr) sum = sum + a.bias[oc];
  if (a.residual != nullptr) sum = sum + a.residual[row * s.out_spatial() + p];
  return sum;
}

}  // namespace conv_detail

template <typename T>
void conv_generic(const ConvArgs<T>& args, bool transposed) {
  const int64_t spatial = args.shape.out_spatial();
  const int64_t rows = args.shape.batch * args.shape.out_channels;
  parallel_for(0, rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t p = 0; p < spatial; ++p)
        args.y[row * spatial + p] = conv_detail::one_output(args, row, p, transposed);
  });
}

}  // namespace assay
