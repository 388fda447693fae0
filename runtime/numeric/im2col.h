#pragma once
// Columns of a convolution, packed panel by panel from padded planes; the full matrix never exists.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/gemm_pack.h"

namespace assay::dot {

// Elements readable past the planes, so that kernels may load whole vectors.
inline constexpr int64_t kPlaneSlack = 64;

inline int64_t plane_elements(const ConvPlan& plan) {
  return plan.shape.batch * plan.shape.in_channels * plan.plane;
}

// Copies x [batch, channels, in...] into padded planes, `fill` outside: [batch *
// channels][plan.plane]. They live in memory of the calling thread that its next call reuses.
template <typename S>
S* im2col_planes(const ConvPlan& plan, const S* x, S fill = S(0));

// The runs of neighbouring plane elements that make up one panel's columns, each at most `unit`
// long.
int im2col_pieces(const ConvPlan& plan, const ColPanel& panel, int unit, Piece* pieces);

template <typename S, typename C>
class ConvCols final : public ColOperand<C> {
 public:
  ConvCols(const ConvPlan& plan, const S* planes, bool slack)
      : plan_(plan), planes_(planes), slack_(slack) {}
  const C* panel(int64_t problem, const ColPanel& panel, KRange k, C* buffer) const override {
    Piece pieces[kMaxWidth<C>];
    const int count = im2col_pieces(plan_, panel, kUnit<C>, pieces);
    call_pack<S, C>({.base = planes_ + problem * plan_.in_group() * plan_.plane,
                     .row_offset = plan_.row_offset.data() + k.first,
                     .k = k.count,
                     .pieces = pieces,
                     .piece_count = count,
                     .width = panel.width,
                     .valid = panel.valid,
                     .slack = slack_,
                     .dst = buffer});
    return buffer;
  }

 private:
  const ConvPlan& plan_;
  const S* planes_;
  bool slack_;
};

}  // namespace assay::dot
