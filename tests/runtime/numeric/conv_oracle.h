#pragma once
// Convolutions by ONNX's definition, for the tests of conv.h.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/numeric/conv.h"

namespace assay::oracle {

struct ConvCase {
  std::string name;
  std::vector<int64_t> x, w, strides, dilations, begin, end, extra;
  int64_t groups = 1;
  bool transposed = false;

  ConvShape shape() const {
    const ConvGeometry g{.x_shape = x,
                         .w_shape = w,
                         .strides = strides,
                         .dilations = dilations,
                         .pads_begin = begin,
                         .pads_end = end,
                         .output_padding = extra,
                         .groups = groups};
    return transposed ? conv_transpose_shape(g) : conv_shape(g);
  }
};

// The factors (weight, input) of one output of a plain convolution in the written order, the input
// 0 where a tap lies outside.
template <typename T>
std::vector<std::pair<T, T>> conv_factors(const ConvArgs<T>& args, int64_t n, int64_t oc,
                                          const std::array<int64_t, 3>& o) {
  const ConvShape& s = args.shape;
  const int64_t in_group = s.in_channels / s.groups, group = oc / (s.out_channels / s.groups);
  std::vector<std::pair<T, T>> factors;
  for (int64_t k = 0; k < in_group * s.kernel_size(); ++k) {
    const int64_t tap = k % s.kernel_size(), channel = group * in_group + k / s.kernel_size();
    const std::array<int64_t, 3> t{tap / (s.kernel[1] * s.kernel[2]),
                                   tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
    int64_t index = n * s.in_channels + channel;
    bool inside = true;
    for (size_t a = 0; a < 3; ++a) {
      const int64_t i = o[a] * s.stride[a] - s.pad[a] + t[a] * s.dilation[a];
      inside = inside && i >= 0 && i < s.in[a];
      index = index * s.in[a] + i;
    }
    factors.emplace_back(args.w[oc * in_group * s.kernel_size() + k],
                         inside ? args.x[index] : T(0));
  }
  return factors;
}

}  // namespace assay::oracle
