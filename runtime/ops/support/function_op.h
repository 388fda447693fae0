// Operators y = f(x), elementwise, with f from runtime/numeric/elementary.h.
//
// An operator is a struct with `using Fn`, `static Fn make(const Attributes&)` and `static double
// spread(x, r)`: an upper bound on |f(x') - f(x)| for |x' - x| <= r. float32 (and float16,
// bfloat16) results are correctly rounded under f32 as well as under cr; float64 is correctly
// rounded under cr and has the proved error f64_error(fn) under f64.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/numeric/elementary.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops {

template <class Fn>
void apply_function(const Fn& fn, const Tensor& x, Tensor& y) {
  const auto in = x.data<float>();
  const auto out = y.mutable_data<float>();
  parallel_for(0, x.numel(), kElementGrain / 4, [&](std::int64_t first, std::int64_t last) {
    const auto at = static_cast<std::size_t>(first);
    const auto count = static_cast<std::size_t>(last - first);
    cr(fn, in.subspan(at, count), out.subspan(at, count));
  });
}

/// y = fn(x) for any float type; `correct` asks for correct rounding of float64.
template <class Fn>
void run_function(const Fn& fn, const Tensor& x, Tensor& y, bool correct) {
  if (x.dtype() == DType::float32) return apply_function(fn, x, y);
  visit_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.data<T>();
    const auto out = y.mutable_data<T>();
    parallel_for(0, x.numel(), kElementGrain / 16, [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        if constexpr (is_narrow<T>) {
          out[i] = cr_as<T>(fn, static_cast<float>(in[i]));
        } else if constexpr (std::is_same_v<T, double>) {
          out[i] = correct ? cr(fn, in[i]) : evaluate(fn, in[i]);
        } else {
          out[i] = evaluate(fn, in[i]);
        }
      }
    });
  });
}

template <class Op>
void eval_function(EvalContext& c) {
  run_function(Op::make(c.attributes()), c.input(0), c.output(0), c.precision == Precision::cr);
}

/// Relative error of one evaluation of `fn` at the precision of the context.
template <class Fn>
double function_error(const BoundContext& c, const Fn& fn) {
  if (c.unit >= 0x1p-24) return c.unit;
  return c.unit >= 0x1p-53 ? c.unit + f64_error(fn) : dd_error();
}

template <class Op>
void bound_function(BoundContext& c) {
  const auto fn = Op::make(c.node->attributes);
  const double relative = function_error(c, fn);
  const Radius radius(c, 0);
  const auto x = c.inputs[0].data<double>();
  const auto y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double r = radius[static_cast<std::int64_t>(k)];
    const double passed = r == 0.0 ? 0.0 : Op::spread(fn, x[k], r);
    out[k] = outward(passed + relative * std::fabs(y[k]) * (1.0 + 0x1p-20) + 2 * c.tiny);
  }
}

/// spread of a function with Lipschitz constant L.
constexpr double lipschitz(double constant, double r) { return constant * r; }

/// spread of a function that is monotone on [x - r, x + r]: the larger move at the two ends,
/// widened by the evaluation error.
template <class Fn>
double monotone_spread(const Fn& fn, double x, double r) {
  const double low = evaluate(fn, x - r);
  const double high = evaluate(fn, x + r);
  const double mid = evaluate(fn, x);
  if (!std::isfinite(low) || !std::isfinite(high)) return std::numeric_limits<double>::infinity();
  const double largest = std::max({std::fabs(low), std::fabs(high), std::fabs(mid)});
  const double move = std::max(std::fabs(low - mid), std::fabs(high - mid));
  return move * (1.0 + 0x1p-40) + largest * (2 * f64_error(fn) + 0x1p-52) + 0x1p-1070;
}

inline void infer_float_function(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_same(c);
}

/// The definition of an operator without attributes that change between opsets.
template <class Op>
OpDef function_op(const char* type, int since) {
  return {.type = type,
          .since = since,
          .infer = infer_float_function,
          .eval = eval_function<Op>,
          .bound = bound_function<Op>};
}

}  // namespace assay::ops
