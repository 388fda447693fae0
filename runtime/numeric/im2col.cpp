#include "runtime/numeric/im2col.h"

#include <algorithm>
#include <vector>

#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

// Deals `groups` runs of `Phases` elements out to rows of one phase each.
template <int64_t Phases, typename S>
void deal(const S* src, int64_t groups, S* dst, int64_t run) {
  for (int64_t i = 0; i < groups; ++i, src += Phases)
    for (int64_t phase = 0; phase < Phases; ++phase) dst[phase * run + i] = src[phase];
}

// Elements [first, last) of a padded row whose width step is `phases`; src is the row's element 0.
template <typename S>
void copy_phases(const ConvPlan& p, const S* src, int64_t first, int64_t last, S* dst) {
  const auto single = [&](int64_t x) { dst[x % p.phases * p.run + x / p.phases] = src[x]; };
  const int64_t start = std::min((first + p.phases - 1) / p.phases * p.phases, last);
  const int64_t groups = (last - start) / p.phases, end = start + groups * p.phases;
  for (int64_t x = first; x < start; ++x) single(x);
  S* to = dst + start / p.phases;
  if (p.phases == 2)
    deal<2>(src + start, groups, to, p.run);
  else if (p.phases == 4)
    deal<4>(src + start, groups, to, p.run);
  else
    for (int64_t x = start; x < end; ++x) single(x);
  for (int64_t x = end; x < last; ++x) single(x);
}

// One padded row from one input row.
template <typename S>
void copy_row(const ConvPlan& p, const S* src, S fill, S* dst) {
  const AxisPlan& w = p.axis[2];
  const int64_t first = std::clamp<int64_t>(-w.low, 0, w.extent);
  const int64_t last = std::clamp<int64_t>(p.shape.in[2] - w.low, first, w.extent);
  if (p.phases == 1) {
    std::fill(dst, dst + first, fill);
    std::copy(src + w.low + first, src + w.low + last, dst + first);
    std::fill(dst + last, dst + p.row, fill);
    return;
  }
  if (w.taps.size() == 1) {  // all outputs read one phase, which is the first
    for (int64_t i = 0, x = 0; x < w.extent; ++i, x += w.step)
      dst[i] = x >= first && x < last ? src[w.low + x] : fill;
    return;
  }
  if (first > 0 || last < w.extent || w.extent < p.row) std::fill(dst, dst + p.row, fill);
  copy_phases(p, src + w.low, first, last, dst);
}

// Which positions of a padded axis some output reads.
std::vector<char> read_positions(const AxisPlan& a) {
  std::vector<char> read(static_cast<size_t>(a.extent), 0);
  for (const int64_t offset : a.offsets)
    for (int64_t i = 0; i < a.out; ++i) read[static_cast<size_t>(offset - a.low + i * a.step)] = 1;
  return read;
}

template <typename S>
void copy_plane(const ConvPlan& p, const S* src, S fill, const std::vector<char>& read, S* dst) {
  const auto& [d, h, w] = p.axis;
  for (int64_t z = 0; z < d.extent; ++z)
    for (int64_t y = 0; y < h.extent; ++y, dst += p.row) {
      if (read[static_cast<size_t>(y)] == 0) continue;
      const int64_t iz = z + d.low, iy = y + h.low;
      const bool inside = iz >= 0 && iz < p.shape.in[0] && iy >= 0 && iy < p.shape.in[1];
      if (inside)
        copy_row(p, src + (iz * p.shape.in[1] + iy) * p.shape.in[2], fill, dst);
      else
        std::fill(dst, dst + p.row, fill);
    }
}

}  // namespace

template <typename S>
S* im2col_planes(const ConvPlan& plan, const S* x, S fill) {
  const int64_t elements = plane_elements(plan);
  S* planes = scratch<S>(Slot::planes, elements + kPlaneSlack);
  std::fill(planes + elements, planes + elements + kPlaneSlack, fill);
  const std::vector<char> read = read_positions(plan.axis[1]);
  parallel_for(0, plan.shape.batch * plan.shape.in_channels, 8, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c)
      copy_plane(plan, x + c * plan.shape.in_spatial(), fill, read, planes + c * plan.plane);
  });
  return planes;
}

int im2col_pieces(const ConvPlan& plan, const ColPanel& panel, int unit, Piece* pieces) {
  int count = 0;
  for (int j = 0; j < panel.valid;) {
    const int64_t col = panel.col + j, src = plan.base(col), row = plan.axis[2].out;
    const int64_t most = std::min(unit, panel.valid - j);
    // Columns of one output row are neighbours; the next row may follow directly.
    int64_t near = row - col % row;
    while (near < most && plan.base(col + near) == src + near) near += row;
    const int length = static_cast<int>(std::min(most, near));
    pieces[count++] = {.dst = j, .count = length, .src = src};
    j += length;
  }
  return count;
}

template float* im2col_planes<float>(const ConvPlan&, const float*, float);
template double* im2col_planes<double>(const ConvPlan&, const double*, double);
template uint8_t* im2col_planes<uint8_t>(const ConvPlan&, const uint8_t*, uint8_t);

}  // namespace assay::dot
