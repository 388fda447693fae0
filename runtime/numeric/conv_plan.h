#pragma once
// A convolution as a list of taps per axis, so that plain and transposed forms share one lowering.
//
// Output q of an axis reads input position q * step + offset[t] for every tap t. A plain
// convolution is one plan (step = stride, offset = t * dilation - pad). A transposed one falls into
// stride[0] * stride[1] * stride[2] phases of outputs, each a plan with step 1 and the taps that
// stride lets reach it:
//   output o = q * stride + r,  taps t with (r + pad - t * dilation) divisible by stride,  offset
//   the quotient.
//
// Inputs are copied once into padded planes (im2col_planes); a width step above 1 splits each row
// by position modulo the step, so that neighbouring outputs always read neighbouring elements.
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/numeric/conv_shape.h"

namespace assay::dot {

struct AxisPlan {
  int64_t out = 0;  // outputs of this phase
  int64_t step = 1;
  std::vector<int64_t> taps;     // index within the kernel, in the order of the sum
  std::vector<int64_t> offsets;  // input position of output 0
  int64_t first_out = 0;         // output index = first_out + q * out_step
  int64_t out_step = 1;
  int64_t low = 0;     // smallest offset: the origin of the padded axis
  int64_t extent = 0;  // length of the padded axis
};

struct ConvPlan {
  ConvShape shape;
  bool transposed = false;
  std::array<AxisPlan, 3> axis;
  // Padded plane of one channel: rows of `phases` runs of `run` elements.
  int64_t phases = 1, run = 0, row = 0, plane = 0;
  bool padded = false;              // some tap of some output lies outside the input
  bool direct = false;              // the planes equal the input: nothing to copy
  std::vector<int64_t> row_offset;  // per k = (channel in group, taps): offset of output 0
  std::vector<int64_t> weight;      // per tap: index within the kernel

  int64_t taps() const { return static_cast<int64_t>(weight.size()); }
  int64_t in_group() const { return shape.in_channels / shape.groups; }
  int64_t out_group() const { return shape.out_channels / shape.groups; }
  int64_t k() const { return in_group() * taps(); }
  int64_t cols() const { return axis[0].out * axis[1].out * axis[2].out; }
  // Offset of output column `col` inside a plane, for row_offset 0.
  int64_t base(int64_t col) const {
    const int64_t w = col % axis[2].out, rest = col / axis[2].out;
    const int64_t h = rest % axis[1].out, d = rest / axis[1].out;
    return (d * axis[0].step * axis[1].extent + h * axis[1].step) * row + w;
  }
};

ConvPlan conv_plan(const ConvShape& shape);
// Phases without outputs are left out; a phase without taps has k() = 0 and still has outputs.
std::vector<ConvPlan> conv_transpose_plans(const ConvShape& shape);

// Index of a weight: output channel `oc` (of all), channel c within the group, kernel index.
inline int64_t weight_index(const ConvPlan& p, int64_t oc, int64_t c, int64_t kernel_index) {
  const int64_t size = p.shape.kernel_size();
  if (!p.transposed) return (oc * p.in_group() + c) * size + kernel_index;
  const int64_t group = oc / p.out_group();
  return ((group * p.in_group() + c) * p.out_group() + oc % p.out_group()) * size + kernel_index;
}

// Calls fn(offset in the channel's input, kernel index) for the taps of column `col` that lie
// inside.
template <typename Fn>
void for_each_inside(const ConvPlan& p, int64_t col, const Fn& fn) {
  const auto& [d, h, w] = p.axis;
  const int64_t qw = col % w.out, qh = col / w.out % h.out, qd = col / (w.out * h.out);
  const ConvShape& s = p.shape;
  for (size_t i = 0; i < d.taps.size(); ++i) {
    const int64_t z = qd * d.step + d.offsets[i];
    if (z < 0 || z >= s.in[0]) continue;
    for (size_t j = 0; j < h.taps.size(); ++j) {
      const int64_t y = qh * h.step + h.offsets[j];
      if (y < 0 || y >= s.in[1]) continue;
      for (size_t l = 0; l < w.taps.size(); ++l) {
        const int64_t x = qw * w.step + w.offsets[l];
        if (x < 0 || x >= s.in[2]) continue;
        fn((z * s.in[1] + y) * s.in[2] + x,
           (d.taps[i] * s.kernel[1] + h.taps[j]) * s.kernel[2] + w.taps[l]);
      }
    }
  }
}

}  // namespace assay::dot
