#include "runtime/numeric/conv.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/numeric/conv_pass.h"
#include "runtime/numeric/depthwise.h"
#include "runtime/numeric/parallel.h"
#include "runtime/numeric/winograd.h"

namespace assay {
namespace {

using namespace dot;

// Calls fn(problem, row, col, output) for every output, then the tail: the paths without blocking.
template <typename T, typename Fn>
void for_each_output(const Pass<T>& pass, const Fn& fn) {
  const int64_t rows = pass.plan.out_group(), cols = pass.plan.cols();
  parallel_for(0, pass.problems() * rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < cols; ++j) fn(i / rows, i % rows, j, i * cols + j);
    if (pass.args.tail != nullptr) (*pass.args.tail)(first * cols, last * cols);
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

template <typename T>
void canonical(const Pass<T>& pass) {
  if (!pass.weights.finite && pass.plan.padded) {
    canonical_unblocked(pass);
    return;
  }
  const CanonicalSink<T> sink(pass.outputs());
  if (depthwise_applies(pass.plan)) {
    const T* planes = im2col_planes<T>(pass.plan, pass.args.x);
    run_depthwise<T, T>(pass.plan, planes, pass.args.w, sink, false);
    return;
  }
  const PackedRows<T> rows(pass.weights);
  with_columns<T, T>(pass, [&](const ConvCols<T, T>& cols) {
    DotRun<T> run = sized_run<T>(pass.plan);
    run.a = &rows;
    run.b = &cols;
    run.sink = &sink;
    run_dot(run);
  });
}

void correct_depthwise(const Pass<float>& pass) {
  const PackedWeights::Impl& w = pass.weights;
  const float* planes = im2col_planes<float>(pass.plan, pass.args.x);
  const ConvTerms<float> terms(pass.plan, pass.args);
  const CorrectSink sink(pass.outputs(),
                         {.norms = w.norms.data(), .problems = w.problems, .rows = w.lines},
                         dot_error(pass.plan.k()), terms);
  run_depthwise<float, double>(pass.plan, planes, pass.args.w, sink, true);
}

void correct(const Pass<float>& pass) {
  if (depthwise_applies(pass.plan)) {
    correct_depthwise(pass);
    return;
  }
  if (!pass.weights.winograd.empty() && winograd::pays(pass.plan)) {
    winograd::run(pass);
    return;
  }
  const PackedRows<double> rows(pass.weights);
  const PackedWeights::Impl& w = pass.weights;
  // Panels in one piece can be cut anywhere.
  const int64_t block = w.block == w.k ? correct_block(w.k) : w.block;
  with_columns<float, double>(pass, [&](const ConvCols<float, double>& cols) {
    const ConvTerms<float> terms(pass.plan, pass.args);
    const CorrectSink sink(pass.outputs(),
                           {.norms = w.norms.data(), .problems = w.problems, .rows = w.lines},
                           dot_error(pass.plan.k(), block), terms);
    DotRun<double> run = sized_run<double>(pass.plan);
    run.block = block;
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

}  // namespace

template <typename T>
PackedWeights pack_conv_weights(const ConvShape& shape, const T* w, DotMode mode) {
  const ConvPlan plan = conv_plan(shape);
  const auto shared = [](PackedWeights::Impl impl) {
    return PackedWeights(std::make_shared<PackedWeights::Impl>(std::move(impl)));
  };
  if (mode == DotMode::canonical) return shared(pack_plan_weights(plan, w));
  if constexpr (std::is_same_v<T, float>)
    if (winograd::applies(shape) && winograd::pays(plan))
      return shared(winograd::pack_weights(plan, w));
  return shared(pack_plan_weights(plan, w, correct_block(plan.k())));
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
  for (const ConvPlan& plan : conv_transpose_plans(args.shape))
    run_phase(plan, args, [&](const Pass<T>& pass) { run_pass(pass, mode); });
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
