#include "runtime/numeric/dot_radius.h"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/numeric/conv_pass.h"
#include "runtime/numeric/dot_running.h"
#include "runtime/numeric/gemm_pack.h"
#include "runtime/numeric/gemm_strides.h"
#include "runtime/numeric/proved.h"

namespace assay {
namespace {

using namespace dot;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
std::vector<double> absolute(const T* data, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = std::fabs(static_cast<double>(data[i]));
  return values;
}

// A sum of k products and two addends of non-negative numbers, computed in the canonical order of
// double, is at least exact (1 - gamma_d) - (k + 4) 2^-1074 with d the number of roundings on a
// chain; NaN (0 * inf) becomes infinity.
void round_outward(double* values, int64_t count, int64_t k) {
  const double factor = 1.0 + 2.0 * radius_unit(k);
  const double tiny = static_cast<double>(k + 4) * kTinyDouble;
  for (int64_t i = 0; i < count; ++i)
    values[i] = std::isnan(values[i]) ? kInfinity : values[i] * factor + tiny;
}

template <typename T>
Addend<double> absolute_addend(const Addend<T>& a, int64_t m, int64_t n,
                               std::vector<double>& copy) {
  if (a.data == nullptr) return {};
  copy.resize(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      copy[static_cast<size_t>(i * n + j)] =
          std::fabs(static_cast<double>(a.data[i * a.row_stride + j * a.col_stride]));
  return {.data = copy.data(), .row_stride = n, .col_stride = 1};
}

}  // namespace

double gamma_n(int64_t n, double u) {
  const double x = static_cast<double>(n) * u;
  if (!(x < 1.0)) return kInfinity;
  return proved<"dot product, any order">(x / (1.0 - x) * (1.0 + 0x1p-50)).value;
}

template <typename T>
void gemm_abs_sum(const GemmArgs<T>& g, double* out) {
  const GemmStrides s = gemm_strides(g);
  std::vector<double> a(static_cast<size_t>(g.m * g.k)), b(static_cast<size_t>(g.k * g.n)), c, r;
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t k = 0; k < g.k; ++k)
      a[static_cast<size_t>(i * g.k + k)] =
          std::fabs(static_cast<double>(g.a[i * s.a_row + k * s.a_k]));
  for (int64_t k = 0; k < g.k; ++k)
    for (int64_t j = 0; j < g.n; ++j)
      b[static_cast<size_t>(k * g.n + j)] =
          std::fabs(static_cast<double>(g.b[k * s.b_k + j * s.b_col]));
  const GemmArgs<double> magnitudes{.m = g.m,
                                    .n = g.n,
                                    .k = g.k,
                                    .a = a.data(),
                                    .b = b.data(),
                                    .out = out,
                                    .alpha = std::fabs(g.alpha),
                                    .beta = std::fabs(g.beta),
                                    .addend = absolute_addend(g.addend, g.m, g.n, c),
                                    .residual = absolute_addend(g.residual, g.m, g.n, r)};
  gemm(magnitudes, DotMode::canonical);
  round_outward(out, g.m * g.n, g.k);
}

template <typename T>
void conv_abs_sum(const ConvArgs<T>& args, bool transposed, double* out) {
  const ConvShape& s = args.shape;
  const int64_t outputs = s.batch * s.out_channels * s.out_spatial();
  const auto x = absolute(args.x, s.batch * s.in_channels * s.in_spatial());
  const auto w = absolute(args.w, s.in_channels * s.out_channels / s.groups * s.kernel_size());
  const auto bias = absolute(args.bias, args.bias != nullptr ? s.out_channels : 0);
  const auto residual = absolute(args.residual, args.residual != nullptr ? outputs : 0);
  const ConvArgs<double> magnitudes{
      .shape = s,
      .x = x.data(),
      .w = w.data(),
      .bias = args.bias != nullptr ? bias.data() : nullptr,
      .residual = args.residual != nullptr ? residual.data() : nullptr,
      .y = out};
  if (transposed)
    conv_transpose(magnitudes, DotMode::canonical);
  else
    conv(magnitudes, DotMode::canonical);
  round_outward(out, outputs, dot_length(s));
}

template <typename T>
void gemm_running(const GemmArgs<T>& args, double* radius) {
  const DenseAddends<T> dense(args);
  const GemmStrides s = gemm_strides(args);
  const StridedRows<T, T> rows(args.a, args.m, s.a_row, s.a_k);
  const StridedCols<T, T> cols(args.b, s.b_k, s.b_col);
  const RunningSink<T> sink(dense.plan(), args.k, {.data = radius, .step = 0, .stride = args.n});
  run_dot(DotRun<T>{.rows = args.m,
                    .cols = args.n,
                    .k = args.k,
                    .running = true,
                    .a = &rows,
                    .b = &cols,
                    .sink = &sink});
}

namespace {

template <typename T>
void running_pass(const Pass<T>& pass, double* radius) {
  const PackedRows<T> rows(pass.weights);
  const OutputPlan<T> out = pass.outputs();
  const RunningSink<T> sink(out, pass.plan.k(),
                            {.data = radius, .step = out.out_step, .stride = out.out_stride});
  with_columns<T, T>(pass, [&](const ConvCols<T, T>& cols) {
    DotRun<T> run = sized_run<T>(pass.plan);
    run.running = true;
    run.a = &rows;
    run.b = &cols;
    run.sink = &sink;
    run_dot(run);
  });
}

// Weights that are not finite: the canonical bits come from conv, the radius is that of any order.
template <typename T>
void running_any_order(const ConvArgs<T>& args, bool transposed, double* radius) {
  conv_abs_sum(args, transposed, radius);
  const double unit = sizeof(T) == 4 ? kUnitFloat : kUnitDouble;
  const double tiny = sizeof(T) == 4 ? kTinyFloat : kTinyDouble;
  const int64_t n = dot_length(args.shape) + 4;
  const double gamma = gamma_n(n, unit);
  const int64_t count = args.shape.batch * args.shape.out_channels * args.shape.out_spatial();
  for (int64_t i = 0; i < count; ++i)
    radius[i] = radius[i] * gamma * (1.0 + 0x1p-50) + static_cast<double>(n) * tiny;
  if (transposed)
    conv_transpose(args, DotMode::canonical);
  else
    conv(args, DotMode::canonical);
}

template <typename T>
bool all_finite(const T* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(data[i])) return false;
  return true;
}

}  // namespace

template <typename T>
void conv_running(const ConvArgs<T>& args, bool transposed, double* radius) {
  const ConvShape& s = args.shape;
  if (!all_finite(args.w, s.in_channels * s.out_channels / s.groups * s.kernel_size())) {
    running_any_order(args, transposed, radius);
    return;
  }
  if (!transposed) {
    const ConvPlan plan = conv_plan(s);
    const PackedWeights::Impl weights = pack_plan_weights(plan, args.w);
    running_pass<T>(
        {.plan = plan, .args = args, .weights = weights, .residual = args.residual, .y = args.y},
        radius);
    return;
  }
  for (const ConvPlan& plan : conv_transpose_plans(s)) {
    std::vector<double> part(static_cast<size_t>(s.batch * s.out_channels * plan.cols()));
    run_phase(plan, args, [&](const Pass<T>& pass) { running_pass(pass, part.data()); });
    for_each_phase_output(
        plan, [&](int64_t at, int64_t out) { radius[out] = part[static_cast<size_t>(at)]; });
  }
}

template void gemm_abs_sum<float>(const GemmArgs<float>&, double*);
template void gemm_abs_sum<double>(const GemmArgs<double>&, double*);
template void conv_abs_sum<float>(const ConvArgs<float>&, bool, double*);
template void conv_abs_sum<double>(const ConvArgs<double>&, bool, double*);
template void gemm_running<float>(const GemmArgs<float>&, double*);
template void gemm_running<double>(const GemmArgs<double>&, double*);
template void conv_running<float>(const ConvArgs<float>&, bool, double*);
template void conv_running<double>(const ConvArgs<double>&, bool, double*);

}  // namespace assay
