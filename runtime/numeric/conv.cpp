#include "runtime/numeric/conv.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/numeric/conv_plan.h"
#include "runtime/numeric/gemm_sinks.h"
#include "runtime/numeric/im2col.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

using namespace dot;

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

 private:
  const ConvPlan& plan_;
  const ConvArgs<T>& args_;
};

template <typename T>
PackedWeights::Impl pack(const ConvPlan& p, const T* w) {
  PackedWeights::Impl impl;
  impl.problems = p.shape.groups;
  impl.lines = p.out_group();
  impl.k = p.k();
  const int64_t taps = std::max<int64_t>(p.taps(), 1);
  pack_row_panels<T>(impl, [&](int64_t group, int64_t row, int64_t k) {
    const int64_t oc = group * p.out_group() + row;
    return w[weight_index(p, oc, k / taps, p.weight[static_cast<size_t>(k % taps)])];
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
    return out;
  }
  int64_t problems() const { return plan.shape.batch * plan.shape.groups; }
};

// Calls fn(problem, row, col, output) for every output: the paths without blocking.
template <typename T, typename Fn>
void for_each_output(const Pass<T>& pass, const Fn& fn) {
  const int64_t rows = pass.plan.out_group(), cols = pass.plan.cols();
  parallel_for(0, pass.problems() * rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < cols; ++j) fn(i / rows, i % rows, j, i * cols + j);
  });
}

template <typename T>
T bias_of(const Pass<T>& pass, int64_t problem, int64_t row) {
  return pass.args.bias[problem % pass.plan.shape.groups * pass.plan.out_group() + row];
}

// The canonical order with padding taps left out one by one, for weights that are not all finite.
template <typename T>
T canonical_element(const Pass<T>& pass, int64_t problem, int64_t row, int64_t col) {
  const ConvPlan& p = pass.plan;
  const int64_t oc = problem % p.shape.groups * p.out_group() + row;
  std::vector<T> x(static_cast<size_t>(p.shape.kernel_size()));
  std::vector<char> inside(x.size());
  T total = T(0), block = T(0);
  int64_t k = 0;
  for (int64_t c = 0; c < p.in_group(); ++c) {
    const T* channel = pass.args.x + (problem * p.in_group() + c) * p.shape.in_spatial();
    const T* w = pass.args.w + weight_index(p, oc, c, 0);
    std::fill(inside.begin(), inside.end(), char(0));
    for_each_inside(p, col, [&](int64_t at, int64_t tap) {
      x[static_cast<size_t>(tap)] = channel[at];
      inside[static_cast<size_t>(tap)] = 1;
    });
    for (const int64_t tap : p.weight) {
      const auto t = static_cast<size_t>(tap);
      const T factor = inside[t] != 0 ? x[t] : T(0);
      if (inside[t] != 0 || std::isfinite(w[tap])) block = std::fma(w[tap], factor, block);
      if (++k % kDotBlock != 0) continue;
      total = k == kDotBlock ? block : total + block;
      block = T(0);
    }
  }
  if (k % kDotBlock != 0) total = k < kDotBlock ? block : total + block;
  if (pass.args.bias != nullptr) total = total + bias_of(pass, problem, row);
  return total;
}

template <typename T>
void canonical_unblocked(const Pass<T>& pass) {
  for_each_output(pass, [&](int64_t problem, int64_t row, int64_t col, int64_t at) {
    T value = canonical_element(pass, problem, row, col);
    if (pass.residual != nullptr) value = value + pass.residual[at];
    pass.y[at] = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
  });
}

template <typename S, typename C, typename Fn>
void with_columns(const Pass<S>& pass, const Fn& fn) {
  if (pass.plan.direct) {
    fn(ConvCols<S, C>(pass.plan, pass.args.x, false));
    return;
  }
  const std::vector<S> planes = im2col_planes<S>(pass.plan, pass.args.x);
  fn(ConvCols<S, C>(pass.plan, planes.data(), true));
}

template <typename C>
DotRun<C> sized_run(const ConvPlan& p) {
  return {.problems = p.shape.batch * p.shape.groups,
          .rows = p.out_group(),
          .cols = p.cols(),
          .k = p.k()};
}

template <typename T>
void canonical(const Pass<T>& pass) {
  if (!pass.weights.finite && pass.plan.padded) {
    canonical_unblocked(pass);
    return;
  }
  const PackedRows<T> rows(pass.weights);
  const CanonicalSink<T> sink(pass.outputs());
  with_columns<T, T>(pass, [&](const ConvCols<T, T>& cols) {
    DotRun<T> run = sized_run<T>(pass.plan);
    run.a = &rows;
    run.b = &cols;
    run.sink = &sink;
    run_dot(run);
  });
}

void correct(const Pass<float>& pass) {
  const PackedRows<double> rows(pass.weights);
  const ConvTerms<float> terms(pass.plan, pass.args);
  const PackedWeights::Impl& w = pass.weights;
  const CorrectSink sink(pass.outputs(),
                         {.norms = w.norms.data(), .problems = w.problems, .rows = w.lines},
                         pass.plan.k(), terms);
  with_columns<float, double>(pass, [&](const ConvCols<float, double>& cols) {
    DotRun<double> run = sized_run<double>(pass.plan);
    run.norms = true;
    run.exact_products = true;
    run.a = &rows;
    run.b = &cols;
    run.sink = &sink;
    run_dot(run);
  });
}

void correct(const Pass<double>& pass) {
  const ConvTerms<double> source(pass.plan, pass.args);
  for_each_output(pass, [&](int64_t problem, int64_t row, int64_t col, int64_t at) {
    thread_local DotTerms terms;
    terms.clear();
    source.collect(problem, row, col, terms);
    if (pass.args.bias != nullptr) terms.add_extra(1.0, bias_of(pass, problem, row));
    if (pass.residual != nullptr) terms.add_extra(1.0, pass.residual[at]);
    pass.y[at] = settle<double>(terms);
  });
}

template <typename T>
void run_pass(const Pass<T>& pass, DotMode mode) {
  if (mode == DotMode::canonical)
    canonical(pass);
  else
    correct(pass);
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

template <typename T>
void run_phase(const ConvPlan& plan, const ConvArgs<T>& args, DotMode mode) {
  const auto size = static_cast<size_t>(plan.shape.batch * plan.shape.out_channels * plan.cols());
  std::vector<T> y(size), residual(args.residual != nullptr ? size : 0);
  if (args.residual != nullptr)
    for_each_phase_output(plan, [&](int64_t at, int64_t out) {
      residual[static_cast<size_t>(at)] = args.residual[out];
    });
  const PackedWeights::Impl weights = pack(plan, args.w);
  run_pass<T>({.plan = plan,
               .args = args,
               .weights = weights,
               .residual = args.residual != nullptr ? residual.data() : nullptr,
               .y = y.data()},
              mode);
  for_each_phase_output(plan,
                        [&](int64_t at, int64_t out) { args.y[out] = y[static_cast<size_t>(at)]; });
}

}  // namespace

template <typename T>
PackedWeights pack_conv_weights(const ConvShape& shape, const T* w, DotMode) {
  return PackedWeights(std::make_shared<PackedWeights::Impl>(pack(conv_plan(shape), w)));
}

template <typename T>
void conv_packed(const ConvArgs<T>& args, DotMode mode, const PackedWeights& weights) {
  const ConvPlan plan = conv_plan(args.shape);
  assert(!weights.empty() && weights.impl()->k == plan.k());
  run_pass<T>({.plan = plan,
               .args = args,
               .weights = *weights.impl(),
               .residual = args.residual,
               .y = args.y},
              mode);
}

template <typename T>
void conv(const ConvArgs<T>& args, DotMode mode) {
  conv_packed(args, mode, pack_conv_weights(args.shape, args.w, mode));
}

template <typename T>
void conv_transpose(const ConvArgs<T>& args, DotMode mode) {
  for (const ConvPlan& plan : conv_transpose_plans(args.shape)) run_phase(plan, args, mode);
}

template void conv<float>(const ConvArgs<float>&, DotMode);
template void conv<double>(const ConvArgs<double>&, DotMode);
template void conv_transpose<float>(const ConvArgs<float>&, DotMode);
template void conv_transpose<double>(const ConvArgs<double>&, DotMode);
template PackedWeights pack_conv_weights<float>(const ConvShape&, const float*, DotMode);
template PackedWeights pack_conv_weights<double>(const ConvShape&, const double*, DotMode);
template void conv_packed<float>(const ConvArgs<float>&, DotMode, const PackedWeights&);
template void conv_packed<double>(const ConvArgs<double>&, DotMode, const PackedWeights&);

}  // namespace assay
