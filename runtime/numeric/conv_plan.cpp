#include "runtime/numeric/conv_plan.h"

#include <algorithm>

namespace assay::dot {
namespace {

AxisPlan plain_axis(const ConvShape& s, size_t i) {
  AxisPlan a;
  a.out = s.out[i];
  a.step = s.stride[i];
  for (int64_t t = 0; t < s.kernel[i]; ++t) {
    a.taps.push_back(t);
    a.offsets.push_back(t * s.dilation[i] - s.pad[i]);
  }
  return a;
}

AxisPlan transposed_axis(const ConvShape& s, size_t i, int64_t phase) {
  AxisPlan a;
  a.out = (s.out[i] - phase + s.stride[i] - 1) / s.stride[i];
  a.first_out = phase;
  a.out_step = s.stride[i];
  // Descending taps are ascending input positions.
  for (int64_t t = s.kernel[i] - 1; t >= 0; --t) {
    const int64_t up = phase + s.pad[i] - t * s.dilation[i];
    if (up % s.stride[i] != 0) continue;
    a.taps.push_back(t);
    a.offsets.push_back(up / s.stride[i]);
  }
  return a;
}

void measure(AxisPlan& a) {
  if (a.offsets.empty() || a.out == 0) return;
  const auto [low, high] = std::minmax_element(a.offsets.begin(), a.offsets.end());
  a.low = *low;
  a.extent = (a.out - 1) * a.step + *high - *low + 1;
}

void finish(ConvPlan& p) {
  bool equal = true;
  for (size_t i = 0; i < 3; ++i) {
    measure(p.axis[i]);
    const int64_t last = p.axis[i].low + p.axis[i].extent;
    p.padded = p.padded || p.axis[i].low < 0 || last > p.shape.in[i];
    equal = equal && p.axis[i].low == 0 && p.axis[i].extent == p.shape.in[i];
  }
  const auto& [d, h, w] = p.axis;
  p.phases = w.step;
  p.run = (w.extent + w.step - 1) / w.step;
  p.row = p.phases * p.run;
  p.plane = d.extent * h.extent * p.row;
  p.direct = equal && w.step == 1;
  std::vector<int64_t> tap_offset;
  for (size_t i = 0; i < d.taps.size(); ++i)
    for (size_t j = 0; j < h.taps.size(); ++j)
      for (size_t l = 0; l < w.taps.size(); ++l) {
        const int64_t x = w.offsets[l] - w.low;
        tap_offset.push_back(((d.offsets[i] - d.low) * h.extent + h.offsets[j] - h.low) * p.row +
                             x % w.step * p.run + x / w.step);
        p.weight.push_back((d.taps[i] * p.shape.kernel[1] + h.taps[j]) * p.shape.kernel[2] +
                           w.taps[l]);
      }
  for (int64_t c = 0; c < p.in_group(); ++c)
    for (const int64_t offset : tap_offset) p.row_offset.push_back(c * p.plane + offset);
}

}  // namespace

ConvPlan conv_plan(const ConvShape& shape) {
  ConvPlan p;
  p.shape = shape;
  for (size_t i = 0; i < 3; ++i) p.axis[i] = plain_axis(shape, i);
  finish(p);
  return p;
}

std::vector<ConvPlan> conv_transpose_plans(const ConvShape& shape) {
  std::vector<ConvPlan> plans;
  for (int64_t d = 0; d < std::min(shape.stride[0], shape.out[0]); ++d)
    for (int64_t h = 0; h < std::min(shape.stride[1], shape.out[1]); ++h)
      for (int64_t w = 0; w < std::min(shape.stride[2], shape.out[2]); ++w) {
        ConvPlan p;
        p.shape = shape;
        p.transposed = true;
        p.axis = {transposed_axis(shape, 0, d), transposed_axis(shape, 1, h),
                  transposed_axis(shape, 2, w)};
        finish(p);
        plans.push_back(std::move(p));
      }
  return plans;
}

}  // namespace assay::dot
