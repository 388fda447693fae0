// Convolution forms of int_gemm.h.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>

#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/im2col.h"
#include "runtime/numeric/int_depthwise.h"
#include "runtime/numeric/int_gemm.h"
#include "runtime/numeric/int_gemm_driver.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

using namespace dot;

class PlaneCols final : public IntColOperand {
 public:
  PlaneCols(const ConvPlan& plan, const uint8_t* planes) : plan_(plan), planes_(planes) {}
  void pack(int64_t problem, const ColPanel& panel, uint8_t* dst) const override {
    static constexpr uint8_t none[kIntUnit] = {};
    Piece pieces[kIntMaxWidth];
    const int count = im2col_pieces(plan_, panel, kIntUnit, pieces);
    const uint8_t* base = planes_ + problem * plan_.in_group() * plan_.plane;
    const int64_t k = plan_.k();
    for (int64_t first = 0; first < k; first += 4, dst += panel.width * 4) {
      const uint8_t* rows[4];
      for (int64_t e = 0; e < 4; ++e)
        rows[e] = first + e < k ? base + plan_.row_offset[static_cast<size_t>(first + e)] : nullptr;
      // Ascending pieces: what one writes past its end, the next one or the next quad overwrites.
      for (int p = 0; p < count; ++p) {
        const uint8_t* src[4];
        for (int e = 0; e < 4; ++e) src[e] = rows[e] != nullptr ? rows[e] + pieces[p].src : none;
        interleave_quads(src, dst + pieces[p].dst * 4);
      }
    }
  }

 private:
  const ConvPlan& plan_;
  const uint8_t* planes_;
};

IntReport exact_report(const IntConvArgs& a, const ConvPlan& plan) {
  std::atomic<int64_t> overflowed{0}, largest{0};
  const ConvShape& s = a.shape;
  parallel_for(0, s.batch * s.out_channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t col = 0; col < plan.cols(); ++col) {
        const int64_t oc = row % s.out_channels;
        const int64_t channel =
            row / s.out_channels * s.in_channels + oc / plan.out_group() * plan.in_group();
        int64_t sum = 0;
        for (int64_t c = 0; c < plan.in_group(); ++c)
          for_each_inside(plan, col, [&](int64_t at, int64_t tap) {
            sum += code_value(a.x, (channel + c) * s.in_spatial() + at, 0) *
                   code_value(a.w, weight_index(plan, oc, c, tap), oc);
          });
        if (sum != static_cast<int32_t>(sum)) overflowed.fetch_add(1);
        int64_t seen = largest.load();
        while (std::abs(sum) > seen && !largest.compare_exchange_weak(seen, std::abs(sum))) {
        }
      }
  });
  return {.overflowed = overflowed.load(), .max_abs = largest.load()};
}

void run_blocked(const IntConvArgs& a, const ConvPlan& plan, const uint8_t* planes) {
  IntRowPanels rows;
  rows.problems = a.shape.groups;
  rows.lines = plan.out_group();
  rows.k = plan.k();
  int_pack_rows(rows, a.w, rows.k);
  const PlaneCols columns(plan, planes);
  IntRun run;
  run.problems = a.shape.batch * a.shape.groups;
  run.cols = plan.cols();
  run.rows = &rows;
  run.columns = &columns;
  run.col_zeros = {unsigned_zero_point(a.x, 0)};
  run.out = a.y;
  run_int(run);
}

}  // namespace

IntReport int_conv(const IntConvArgs& a) {
  assert(a.x.zero.size() <= 1);
  assert(a.w.zero.size() <= 1 || static_cast<int64_t>(a.w.zero.size()) == a.shape.out_channels);
  const ConvPlan plan = conv_plan(a.shape);
  // Planes are filled from the codes as stored and then brought into unsigned form, padding
  // included.
  const int32_t zero = unsigned_zero_point(a.x, 0);
  const auto padding = static_cast<uint8_t>(zero ^ (a.x.is_signed ? 0x80 : 0));
  uint8_t* planes = im2col_planes<uint8_t>(plan, static_cast<const uint8_t*>(a.x.data), padding);
  if (a.x.is_signed) flip_codes(planes, plane_elements(plan) + kPlaneSlack);
  if (plan.in_group() == 1)
    run_int_depthwise(a, plan, planes);
  else
    run_blocked(a, plan, planes);
  return int32_is_enough(a.x, a.w, plan.k()) ? IntReport{} : exact_report(a, plan);
}

void int_conv_s16pair(const IntConvArgs& a, uint8_t pad_code) {
  assert(!a.x.is_signed && a.w.is_signed && a.x.zero.empty() && a.w.zero.empty());
  const ConvPlan plan = conv_plan(a.shape);
  const ConvShape& s = a.shape;
  const auto* x = static_cast<const uint8_t*>(a.x.data);
  const auto* w = static_cast<const int8_t*>(a.w.data);
  const int64_t in_group = plan.in_group(), taps = plan.taps();
  parallel_for(0, s.batch * s.out_channels, 1, [&](int64_t first, int64_t last) {
    std::vector<int64_t> inside(static_cast<size_t>(taps));
    std::vector<uint8_t> codes(static_cast<size_t>(in_group));
    std::vector<int8_t> weights(codes.size());
    for (int64_t row = first; row < last; ++row)
      for (int64_t col = 0; col < plan.cols(); ++col) {
        const int64_t oc = row % s.out_channels;
        const int64_t channel =
            row / s.out_channels * s.in_channels + oc / plan.out_group() * in_group;
        std::fill(inside.begin(), inside.end(), -1);
        for_each_inside(plan, col,
                        [&](int64_t at, int64_t tap) { inside[static_cast<size_t>(tap)] = at; });
        uint32_t sum = 0;
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t at = inside[static_cast<size_t>(t)];
          for (int64_t c = 0; c < in_group; ++c) {
            codes[static_cast<size_t>(c)] =
                at < 0 ? pad_code : x[(channel + c) * s.in_spatial() + at];
            weights[static_cast<size_t>(c)] = w[weight_index(plan, oc, c, t)];
          }
          sum += static_cast<uint32_t>(dot_s16pair(codes, weights));
        }
        a.y[row * plan.cols() + col] = static_cast<int32_t>(sum);
      }
  });
}

}  // namespace assay
