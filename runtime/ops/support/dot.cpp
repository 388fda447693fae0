#include "runtime/ops/support/dot.h"

#include <cmath>

#include "runtime/ops/support/bound.h"

namespace assay::ops {
namespace {

std::vector<double> magnitudes(const double* v, const double* radius, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = std::fabs(v[i]) + (radius == nullptr ? 0.0 : radius[i]);
  return out;
}

const double* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<double>().data() : nullptr;
}

ConvArgs<double> args_of(const ConvRadiusInputs& in) {
  ConvArgs<double> args;
  args.shape = in.shape;
  args.x = data_or_null(in.x);
  args.w = data_or_null(in.w);
  args.bias = data_or_null(in.bias);
  args.residual = data_or_null(in.residual);
  return args;
}

/// The canonical evaluation in T with its running bound.
template <class T>
void running(const ConvRadiusInputs& in, std::span<double> out) {
  const auto as = [](const Tensor& t) { return t.defined() ? convert(t, dtype_of<T>) : Tensor(); };
  const Tensor x = as(in.x), w = as(in.w), bias = as(in.bias), residual = as(in.residual);
  Tensor y(dtype_of<T>, Shape{static_cast<std::int64_t>(out.size())});
  ConvArgs<T> args;
  args.shape = in.shape;
  args.x = x.data<T>().data();
  args.w = w.data<T>().data();
  if (bias.defined()) args.bias = bias.data<T>().data();
  if (residual.defined()) args.residual = residual.data<T>().data();
  args.y = y.mutable_data<T>().data();
  conv_running(args, in.transposed, out.data());
}

/// gamma_n sum|a||b| + n tiny: any order of any number type.
void any_order(const BoundContext& c, const ConvRadiusInputs& in, std::span<double> out) {
  conv_abs_sum(args_of(in), in.transposed, out.data());
  const std::int64_t n = dot_length(in.shape) + 2;
  const double gamma = gamma_n(n, c.unit);
  for (double& v : out) v = outward(gamma * v + static_cast<double>(n) * c.tiny);
}

/// Adds what the radii of the operands contribute: (|x| + rx)(|w| + rw) - |x||w| = rx (|w| + rw) +
/// |x| rw, and their own.
void add_passed(const ConvRadiusInputs& in, std::span<double> out) {
  const double* rx = data_or_null(in.x_radius);
  const double* rw = data_or_null(in.w_radius);
  const auto n = static_cast<std::size_t>(in.w.numel());
  std::vector<double> part(out.size());
  ConvArgs<double> args = args_of(in);
  args.bias = data_or_null(in.bias_radius);
  args.residual = data_or_null(in.residual_radius);
  const std::vector<double> none(static_cast<std::size_t>(in.x.numel()));
  const std::vector<double> wide = magnitudes(args.w, rw, n);
  args.x = rx != nullptr ? rx : none.data();
  args.w = wide.data();
  if (rx != nullptr || args.bias != nullptr || args.residual != nullptr) {
    conv_abs_sum(args, in.transposed, part.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = outward(out[i] + part[i]);
  }
  if (rw == nullptr) return;
  args.bias = args.residual = nullptr;
  args.x = data_or_null(in.x);
  args.w = rw;
  conv_abs_sum(args, in.transposed, part.data());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = outward(out[i] + part[i]);
}

template <class T>
void running(const GemmArgs<double>& g, std::int64_t a_count, std::int64_t b_count,
             std::span<double> out) {
  const auto as = [](const double* v, std::int64_t n) {
    std::vector<T> copy;
    for (std::int64_t i = 0; i < n; ++i) copy.push_back(static_cast<T>(v[i]));
    return copy;
  };
  const std::vector<T> a = as(g.a, a_count);
  const std::vector<T> b = as(g.b, b_count);
  std::vector<T> addend(g.addend.data == nullptr ? 0 : static_cast<std::size_t>(g.m * g.n));
  std::vector<T> y(out.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(addend.size()); ++i) {
    const std::int64_t at = i / g.n * g.addend.row_stride + i % g.n * g.addend.col_stride;
    addend[static_cast<std::size_t>(i)] = static_cast<T>(g.addend.data[at]);
  }
  auto t = gemm_args<T>(g.m, g.n, g.k);
  t.a = a.data();
  t.trans_a = g.trans_a;
  t.b = b.data();
  t.trans_b = g.trans_b;
  t.alpha = g.alpha;
  t.beta = g.beta;
  if (!addend.empty()) t.addend = {addend.data(), g.n, 1};
  t.out = y.data();
  gemm_running(t, out.data());
}

}  // namespace

void conv_radius(const BoundContext& c, const ConvRadiusInputs& in, std::span<double> out) {
  if (c.any_order || c.unit < 0x1p-53) {
    any_order(c, in, out);
  } else if (c.unit >= 0x1p-24) {
    running<float>(in, out);
  } else {
    running<double>(in, out);
  }
  add_passed(in, out);
}

void gemm_radius(const BoundContext& c, const GemmRadiusInputs& in, std::span<double> out) {
  const GemmArgs<double>& g = in.args;
  if (c.any_order || c.unit < 0x1p-53) {
    gemm_abs_sum(g, out.data());
    const double gamma = gamma_n(g.k + 3, c.unit);
    for (double& v : out) v = outward(gamma * v + static_cast<double>(g.k + 3) * c.tiny);
  } else if (c.unit >= 0x1p-24) {
    running<float>(g, in.a_count, in.b_count, out);
  } else {
    running<double>(g, in.a_count, in.b_count, out);
  }
  if (in.a_radius == nullptr && in.b_radius == nullptr && in.addend_radius == nullptr) return;
  std::vector<double> part(out.size());
  const std::vector<double> none(static_cast<std::size_t>(in.a_count));
  const std::vector<double> wide =
      magnitudes(g.b, in.b_radius, static_cast<std::size_t>(in.b_count));
  GemmArgs<double> args = g;
  args.a = in.a_radius != nullptr ? in.a_radius : none.data();
  args.b = wide.data();
  args.addend.data = in.addend_radius;
  gemm_abs_sum(args, part.data());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = outward(out[i] + part[i]);
  if (in.b_radius == nullptr) return;
  args.a = g.a;
  args.b = in.b_radius;
  args.addend.data = nullptr;
  gemm_abs_sum(args, part.data());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = outward(out[i] + part[i]);
}

}  // namespace assay::ops
