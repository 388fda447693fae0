#include "runtime/numeric/depthwise.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

template <typename S, typename C>
void call_depthwise(const DepthwiseCall<S, C>& call) {
  if constexpr (sizeof(C) == sizeof(float))
    kernels().depthwise_f32(call);
  else if constexpr (sizeof(S) == sizeof(double))
    kernels().depthwise_f64(call);
  else
    kernels().depthwise_wide(call);
}

template <typename S, typename C>
struct Channel {
  const ConvPlan& plan;
  const S* plane;
  const C* weights;
  const TileSink<C>& sink;
  bool norms;
  int64_t problem, row;
};

// The outputs of one output row, up to kMaxWidth at a time.
template <typename S, typename C>
void output_row(const Channel<S, C>& ch, int64_t first_col) {
  constexpr int most = kMaxWidth<C>;
  alignas(64) C sums[kRowPanel * most];
  alignas(64) C squares[most];
  alignas(64) double norm[most];
  const int64_t length = ch.plan.axis[2].out;
  for (int64_t at = 0; at < length; at += most) {
    const int valid = static_cast<int>(std::min<int64_t>(most, length - at));
    const int width = (valid + kUnit<C> - 1) / kUnit<C> * kUnit<C>;
    const int64_t col = first_col + at;
    call_depthwise<S, C>({.base = ch.plane + ch.plan.base(col),
                          .offset = ch.plan.row_offset.data(),
                          .weights = ch.weights,
                          .taps = ch.plan.k(),
                          .width = width,
                          .sums = sums,
                          .squares = ch.norms ? squares : nullptr,
                          .exact_products = !std::is_same_v<S, C>});
    if (ch.norms)
      for (int j = 0; j < width; ++j) norm[j] = std::sqrt(static_cast<double>(squares[j]));
    ch.sink.take({.problem = ch.problem,
                  .row = ch.row,
                  .rows = 1,
                  .cols = {.col = col, .valid = valid, .width = width},
                  .sums = sums,
                  .magnitudes = nullptr,
                  .col_norm = norm});
  }
}

}  // namespace

bool depthwise_applies(const ConvPlan& plan) {
  return plan.in_group() == 1 && plan.k() >= 1 && plan.k() <= kDotBlock;
}

template <typename S, typename C>
void run_depthwise(const ConvPlan& plan, const S* planes, const S* w, const TileSink<C>& sink,
                   bool norms) {
  const int64_t rows = plan.out_group(), length = plan.axis[2].out;
  const int64_t channels = plan.shape.batch * plan.shape.groups * rows;
  if (plan.cols() == 0) return;
  parallel_for(0, channels, 4, [&](int64_t first, int64_t last) {
    std::vector<C> weights(static_cast<size_t>(plan.k()));
    for (int64_t i = first; i < last; ++i) {
      const int64_t problem = i / rows, row = i % rows;
      const S* from = w + weight_index(plan, problem % plan.shape.groups * rows + row, 0, 0);
      for (size_t t = 0; t < weights.size(); ++t) weights[t] = static_cast<C>(from[plan.weight[t]]);
      const Channel<S, C> channel{.plan = plan,
                                  .plane = planes + problem * plan.plane,
                                  .weights = weights.data(),
                                  .sink = sink,
                                  .norms = norms,
                                  .problem = problem,
                                  .row = row};
      for (int64_t col = 0; col < plan.cols(); col += length) output_row(channel, col);
      sink.finish(
          {.problem = problem, .row = row, .rows = 1, .first_col = 0, .last_col = plan.cols()});
    }
  });
}

template void run_depthwise(const ConvPlan&, const float*, const float*, const TileSink<float>&,
                            bool);
template void run_depthwise(const ConvPlan&, const double*, const double*, const TileSink<double>&,
                            bool);
template void run_depthwise(const ConvPlan&, const float*, const float*, const TileSink<double>&,
                            bool);

}  // namespace assay::dot
