// Dot-like operators on top of runtime/numeric/{gemm,conv}.h: choice of evaluation by element type,
// and radii.
#pragma once

#include "runtime/numeric/conv_generic.h"
#include "runtime/numeric/dot_radius.h"
#include "runtime/numeric/gemm_generic.h"
#include "runtime/op.h"

namespace assay::ops {

inline DotMode dot_mode(const EvalContext& c) {
  return c.precision == Precision::cr ? DotMode::correct : DotMode::canonical;
}

/// A product of dense [m, k] and [k, n] matrices, operands to be filled in.
template <class T>
GemmArgs<T> gemm_args(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmArgs<T> g;
  g.m = m;
  g.n = n;
  g.k = k;
  return g;
}

template <class T>
void run_gemm(const GemmArgs<T>& args, DotMode mode) {
  if constexpr (std::is_same_v<T, dd>) {
    gemm_generic(args);
  } else {
    gemm(args, mode);
  }
}

template <class T>
void run_conv(const ConvArgs<T>& args, bool transposed, DotMode mode) {
  if constexpr (std::is_same_v<T, dd>) {
    conv_generic(args, transposed);
  } else if (transposed) {
    conv_transpose(args, mode);
  } else {
    conv(args, mode);
  }
}

/// What the radius of a convolution is computed from: float64 tensors, residual and bias may be
/// undefined.
struct ConvRadiusInputs {
  ConvShape shape;
  bool transposed = false;
  Tensor x, w, bias, residual;
  Tensor x_radius, w_radius, bias_radius, residual_radius;  ///< undefined(): exact
};
/// Radius of conv(x, w) + bias + residual: passed-on radii plus the rounding of the evaluation that
/// `c` describes.
void conv_radius(const BoundContext& c, const ConvRadiusInputs& in, std::span<double> out);

/// The same for a matrix product; `args` points to float64 data, radii have the layout of their
/// operands.
struct GemmRadiusInputs {
  GemmArgs<double> args;
  const double* a_radius = nullptr;  ///< nullptr: exact
  const double* b_radius = nullptr;
  const double* addend_radius = nullptr;
  std::int64_t a_count = 0;  ///< elements behind a and b
  std::int64_t b_count = 0;
};
void gemm_radius(const BoundContext& c, const GemmRadiusInputs& in, std::span<double> out);

}  // namespace assay::ops
