#pragma once
// What every blocked convolution shares: packed weights, columns and output placement of one plan.
#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "runtime/numeric/conv.h"
#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/gemm_sinks.h"
#include "runtime/numeric/im2col.h"

namespace assay::dot {

template <typename T>
class ConvTerms final : public TermSource {
 public:
  ConvTerms(const ConvPlan& plan, const ConvArgs<T>& args) : plan_(plan), args_(args) {}
  void collect(int64_t problem, int64_t row, int64_t col, DotTerms& terms) const override {
    const int64_t oc = problem % plan_.shape.groups * plan_.out_group() + row;
    for (int64_t c = 0; c < plan_.in_group(); ++c) {
      const T* x = args_.x + (problem * plan_.in_group() + c) * plan_.shape.in_spatial();
      const T* w = args_.w + weight_index(plan_, oc, c, 0);
      for_each_inside(plan_, col, [&](int64_t at, int64_t tap) {
        terms.add(static_cast<double>(x[at]), static_cast<double>(w[tap]));
      });
    }
  }
  void products(int64_t problem, int64_t row, int64_t col, double* out) const override {
    const int64_t oc = problem % plan_.shape.groups * plan_.out_group() + row;
    thread_local std::vector<std::pair<int64_t, int64_t>> inside;  // input, tap
    inside.clear();
    for_each_inside(plan_, col, [&](int64_t at, int64_t tap) { inside.emplace_back(at, tap); });
    double* const end = out + plan_.k();
    for (int64_t c = 0; c < plan_.in_group(); ++c) {
      const T* x = args_.x + (problem * plan_.in_group() + c) * plan_.shape.in_spatial();
      const T* w = args_.w + weight_index(plan_, oc, c, 0);
      for (const auto& [at, tap] : inside)
        *out++ = static_cast<double>(x[at]) * static_cast<double>(w[tap]);
    }
    std::fill(out, end, 0.0);
  }

 private:
  const ConvPlan& plan_;
  const ConvArgs<T>& args_;
};

template <typename T>
PackedWeights::Impl pack_plan_weights(const ConvPlan& p, const T* w, int64_t block = kDotBlock) {
  PackedWeights::Impl impl;
  impl.block = block;
  impl.problems = p.shape.groups;
  impl.lines = p.out_group();
  impl.k = p.k();
  pack_row_panels<T>(impl, [&](int64_t group, int64_t row, T* values) {
    const int64_t oc = group * p.out_group() + row;
    for (int64_t c = 0; c < p.in_group(); ++c) {
      const T* from = w + weight_index(p, oc, c, 0);
      for (const int64_t tap : p.weight) *values++ = from[tap];
    }
  });
  return impl;
}

// One plan's inputs and outputs: y, bias and residual hold just the columns of this plan.
template <typename T>
struct Pass {
  const ConvPlan& plan;
  const ConvArgs<T>& args;
  const PackedWeights::Impl& weights;
  const T* residual;
  T* y;

  OutputPlan<T> outputs() const {
    OutputPlan<T> out;
    out.out = y;
    out.out_step = plan.out_group() * plan.cols();
    out.out_stride = plan.cols();
    out.addend = {.data = args.bias, .row_stride = 1, .col_stride = 0};
    out.addend_period = plan.shape.groups;
    out.addend_step = plan.out_group();
    out.residual = {.data = residual, .row_stride = plan.cols(), .col_stride = 1};
    out.residual_step = out.out_step;
    out.tail = args.tail;
    return out;
  }
  int64_t problems() const { return plan.shape.batch * plan.shape.groups; }
};

template <typename S, typename C, typename Fn>
void with_columns(const Pass<S>& pass, const Fn& fn) {
  if (pass.plan.direct) {
    fn(ConvCols<S, C>(pass.plan, pass.args.x, false));
    return;
  }
  fn(ConvCols<S, C>(pass.plan, im2col_planes<S>(pass.plan, pass.args.x), true));
}

// Terms of a chain where the result does not depend on it (correct rounding): one chain for sums
// that are little longer than a block (147 terms of a 7x7 stem), whose panels still fit the first
// cache.
inline int64_t correct_block(int64_t k) {
  constexpr int64_t most = 160;
  return k <= most ? std::max<int64_t>(k, 1) : kDotBlock;
}

template <typename C>
DotRun<C> sized_run(const ConvPlan& p) {
  return {.problems = p.shape.batch * p.shape.groups,
          .rows = p.out_group(),
          .cols = p.cols(),
          .k = p.k()};
}

// Calls fn(index within the phase, index within y) for every output of a phase.
template <typename Fn>
void for_each_phase_output(const ConvPlan& p, const Fn& fn) {
  const auto& [d, h, w] = p.axis;
  const ConvShape& s = p.shape;
  int64_t at = 0;
  for (int64_t row = 0; row < s.batch * s.out_channels; ++row)
    for (int64_t z = 0; z < d.out; ++z)
      for (int64_t y = 0; y < h.out; ++y)
        for (int64_t x = 0; x < w.out; ++x, ++at) {
          const int64_t oz = d.first_out + z * d.out_step, oy = h.first_out + y * h.out_step;
          fn(at, ((row * s.out[0] + oz) * s.out[1] + oy) * s.out[2] + w.first_out + x * w.out_step);
        }
}

// Runs one phase of a transposed convolution: run(pass) fills a dense y, which is then spread.
template <typename T, typename Run>
void run_phase(const ConvPlan& plan, const ConvArgs<T>& args, const Run& run) {
  assert(args.tail == nullptr);
  const auto size = static_cast<size_t>(plan.shape.batch * plan.shape.out_channels * plan.cols());
  std::vector<T> y(size), residual(args.residual != nullptr ? size : 0);
  if (args.residual != nullptr)
    for_each_phase_output(plan, [&](int64_t at, int64_t out) {
      residual[static_cast<size_t>(at)] = args.residual[out];
    });
  const PackedWeights::Impl weights = pack_plan_weights(plan, args.w);
  const Pass<T> pass{.plan = plan,
                     .args = args,
                     .weights = weights,
                     .residual = args.residual != nullptr ? residual.data() : nullptr,
                     .y = y.data()};
  run(pass);
  for_each_phase_output(plan,
                        [&](int64_t at, int64_t out) { args.y[out] = y[static_cast<size_t>(at)]; });
}

}  // namespace assay::dot
