// LpNormalization (1): y = x / norm along one axis, p 1 or 2; and MeanVarianceNormalization (9,
// 13):
//   y = (x - mean) / sqrt(E[x^2] - mean^2) over `axes` (0, 2, 3 when absent).
//
// cr rounds the exact composite once. A zero row of LpNormalization stays zero. The text of
// MeanVarianceNormalization has no epsilon; its function body divides by (standard deviation +
// 1e-9), and that is the formula here: y = (x - mean) / (sigma + 1e-9) evaluated in double-double
// under cr and rounded once.
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/reduce.h"
#include "runtime/ops/support/rows.h"

namespace assay::ops::lp_normalization_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_same(c);
}

template <class T>
void lp_row(std::span<const T> x, std::span<T> y, std::int64_t p, bool correct) {
  if constexpr (std::is_same_v<T, float>) {
    if (correct) return cr_lp_normalize(x, static_cast<int>(p), y);
  }
  std::vector<T> sizes;
  for (const T& v : x) sizes.push_back(v < T(0.0) ? T(-v) : v);
  const T norm = p == 1 ? row_sum<T>(sizes) : row_l2<T>(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = norm == T(0.0) ? T(0.0) : canonical(T(x[i] / norm));
}

void core_lp(EvalContext& c) {
  const std::int64_t p = c.attributes().int_or("p", 2);
  if (p != 1 && p != 2) {
    throw Error({.what = "attribute 'p' of LpNormalization",
                 .got = std::to_string(p),
                 .expected = "1 or 2"});
  }
  const RowLayout l = axis_rows(c.input(0).shape(), c.attributes().int_or("axis", -1));
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_rows<T>(c.in<T>(0), c.out<T>(0), l,
                [&](std::int64_t, std::span<const T> x, std::span<T> y) {
                  lp_row<T>(x, y, p, c.precision == Precision::cr);
                });
  });
}

template <class T>
void mean_variance_row(std::span<const T> x, std::span<T> y) {
  const T mean = row_mean<T>(x);
  std::vector<T> d;
  for (const T& v : x) d.push_back(v - mean);
  const T variance = row_dot<T>(d, d) / T(static_cast<double>(x.size()));
  const T sigma = evaluate(SqrtFn{}, variance) + T(1e-9F);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = canonical(T(d[i] / sigma));
}

template <class T>
void mean_variance(std::span<const T> x, std::span<T> y, const ReducePlan& plan) {
  parallel_for(0, static_cast<std::int64_t>(plan.base.size()), 1,
               [&](std::int64_t first, std::int64_t last) {
                 std::vector<T> row(plan.step.size()), out(plan.step.size());
                 for (std::int64_t o = first; o < last; ++o) {
                   const std::int64_t base = plan.base[static_cast<std::size_t>(o)];
                   for (std::size_t k = 0; k < row.size(); ++k)
                     row[k] = x[static_cast<std::size_t>(base + plan.step[k])];
                   mean_variance_row<T>(row, out);
                   for (std::size_t k = 0; k < row.size(); ++k)
                     y[static_cast<std::size_t>(base + plan.step[k])] = out[k];
                 }
               });
}

void core_mvn(EvalContext& c) {
  const Shape& shape = c.input(0).shape();
  const ReduceAxes axes{.axes = c.attributes().ints_or("axes", {0, 2, 3})};
  const ReducePlan plan = plan_reduce(shape, reduced_axes(axes, shape.rank()));
  const bool correct = c.precision == Precision::cr;
  const Tensor x = correct ? convert(c.input(0), DType::dd) : c.input(0);
  Tensor y(x.dtype(), shape);
  visit_real(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    mean_variance<T>(x.data<T>(), y.mutable_data<T>(), plan);
  });
  c.output(0) = convert(y, c.output(0).dtype());
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "LpNormalization", .since = 1, .infer = infer, .eval = with_narrow<core_lp>},
    {.type = "MeanVarianceNormalization",
     .since = 9,
     .infer = infer,
     .eval = with_narrow<core_mvn>}}};

}  // namespace
}  // namespace assay::ops::lp_normalization_op
