#include "runtime/numeric/im2col.h"

#include <algorithm>

#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

// One padded row from one input row; the destination holds `fill` already.
template <typename S>
void copy_row(const ConvPlan& p, const S* src, S* dst) {
  const AxisPlan& w = p.axis[2];
  const int64_t first = std::max<int64_t>(0, -w.low);
  const int64_t last = std::min(w.extent, p.shape.in[2] - w.low);
  if (p.phases == 1) {
    if (first < last) std::copy(src + w.low + first, src + w.low + last, dst + first);
    return;
  }
  for (int64_t phase = 0; phase < p.phases; ++phase) {
    const int64_t skip = first <= phase ? 0 : (first - phase + p.phases - 1) / p.phases;
    S* to = dst + phase * p.run;
    for (int64_t i = skip, x = phase + skip * p.phases; x < last; ++i, x += p.phases)
      to[i] = src[w.low + x];
  }
}

template <typename S>
void copy_plane(const ConvPlan& p, const S* src, S* dst) {
  const auto& [d, h, w] = p.axis;
  for (int64_t z = 0; z < d.extent; ++z) {
    const int64_t iz = z + d.low;
    if (iz < 0 || iz >= p.shape.in[0]) continue;
    for (int64_t y = 0; y < h.extent; ++y) {
      const int64_t iy = y + h.low;
      if (iy < 0 || iy >= p.shape.in[1]) continue;
      copy_row(p, src + (iz * p.shape.in[1] + iy) * p.shape.in[2],
               dst + (z * h.extent + y) * p.row);
    }
  }
}

}  // namespace

template <typename S>
std::vector<S> im2col_planes(const ConvPlan& plan, const S* x, S fill) {
  const int64_t channels = plan.shape.batch * plan.shape.in_channels;
  std::vector<S> planes(static_cast<size_t>(channels * plan.plane + kPlaneSlack), fill);
  parallel_for(0, channels, 8, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c)
      copy_plane(plan, x + c * plan.shape.in_spatial(), planes.data() + c * plan.plane);
  });
  return planes;
}

int im2col_pieces(const ConvPlan& plan, const ColPanel& panel, int unit, Piece* pieces) {
  int count = 0;
  for (int j = 0; j < panel.valid;) {
    const int64_t src = plan.base(panel.col + j);
    int length = 1;
    while (length < unit && j + length < panel.valid &&
           plan.base(panel.col + j + length) == src + length)
      ++length;
    pieces[count++] = {.dst = j, .count = length, .src = src};
    j += length;
  }
  return count;
}

template std::vector<float> im2col_planes<float>(const ConvPlan&, const float*, float);
template std::vector<double> im2col_planes<double>(const ConvPlan&, const double*, double);
template std::vector<uint8_t> im2col_planes<uint8_t>(const ConvPlan&, const uint8_t*, uint8_t);

}  // namespace assay::dot
