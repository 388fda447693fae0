// AveragePool (1, 7, 10, 11, 19) and GlobalAveragePool (1): the mean of each window.
//
//   y = sum of the inputs in the window / divisor
// divisor: the inputs that take part, or with count_include_pad = 1 also the padding taps (never
// taps past the padding, which ceil_mode can reach). cr rounds the exact quotient once; f32 adds
// the taps in ascending order with the lanes of row_sum, then divides. A window without inputs and
// a global mean over no elements are 0 / 0 = NaN.
#include "runtime/numeric/dot_radius.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/pool.h"

namespace assay::ops::average_pool_op {
namespace {

template <class T>
T quotient(std::span<const T> row, std::int64_t divisor, bool correct) {
  if (divisor == 0) return canonical(T(std::numeric_limits<double>::quiet_NaN()));
  if constexpr (std::is_same_v<T, float>) {
    if (correct) return cr_sum_over(row, divisor);
  }
  return canonical(row_sum<T>(row) / T(static_cast<double>(divisor)));
}

std::int64_t divisor_of(const Taps& taps, bool include_pad) {
  return include_pad ? taps.counted : static_cast<std::int64_t>(taps.offsets.size());
}

template <class T>
void pool(EvalContext& c) {
  const PoolShape s = read_pool_shape(c.attributes(), c.input(0).shape());
  const bool include_pad = c.attributes().int_or("count_include_pad", 0) != 0;
  const bool correct = c.precision == Precision::cr;
  const auto taps = all_taps(s);
  const T* x = c.in<T>(0).data();
  T* y = c.out<T>(0).data();
  parallel_for(0, s.rows, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<T> row;
    for (std::int64_t i = first * s.out_size(); i < last * s.out_size(); ++i) {
      const Taps& t = taps[static_cast<std::size_t>(i % s.out_size())];
      const T* base = x + i / s.out_size() * s.in_size();
      row.clear();
      for (const std::int64_t at : t.offsets) row.push_back(base[at]);
      y[i] = quotient<T>(row, divisor_of(t, include_pad), correct);
    }
  });
}

void core(EvalContext& c) {
  visit_real(c.input(0).dtype(), [&](auto tag) { pool<typename decltype(tag)::type>(c); });
}

template <class T>
void global_pool(EvalContext& c) {
  const Shape& shape = c.input(0).shape();
  const std::int64_t size = shape.numel(2, shape.rank());
  const auto x = c.in<T>(0);
  const auto y = c.out<T>(0);
  parallel_for(0, shape[0] * shape[1], 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto row =
          x.subspan(static_cast<std::size_t>(i * size), static_cast<std::size_t>(size));
      y[static_cast<std::size_t>(i)] = quotient<T>(row, size, c.precision == Precision::cr);
    }
  });
}

void core_global(EvalContext& c) {
  visit_real(c.input(0).dtype(), [&](auto tag) { global_pool<typename decltype(tag)::type>(c); });
}

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_pool(c);
}

void infer_global(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_global_pool(c);
}

/// Mean of the radii, plus gamma_n of the sum over the divisor, plus the quotient's rounding.
double mean_radius(const BoundContext& c, double radii, double magnitudes, std::int64_t divisor,
                   double y) {
  const auto n = static_cast<double>(divisor);
  const double sum_error = gamma_n(sum_depth(c, divisor), c.unit) * magnitudes;
  return outward((radii + sum_error) / n * (1.0 + 4 * c.unit) + own_error(c, y, 1.0));
}

void bound(BoundContext& c) {
  const PoolShape s = read_pool_shape(c.node->attributes, c.inputs[0].shape());
  const bool include_pad = c.node->attributes.int_or("count_include_pad", 0) != 0;
  const auto taps = all_taps(s);
  const Radius r(c, 0);
  const auto x = c.inputs[0].data<double>(), y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
    const std::int64_t base = i / s.out_size() * s.in_size();
    const Taps& t = taps[static_cast<std::size_t>(i % s.out_size())];
    double radii = 0.0, sum = 0.0;
    for (const std::int64_t at : t.offsets) {
      radii += r[base + at];
      sum += std::fabs(x[static_cast<std::size_t>(base + at)]);
    }
    const std::int64_t divisor = std::max<std::int64_t>(1, divisor_of(t, include_pad));
    out[static_cast<std::size_t>(i)] =
        mean_radius(c, radii, sum, divisor, y[static_cast<std::size_t>(i)]);
  }
}

void bound_global(BoundContext& c) {
  const Shape& shape = c.inputs[0].shape();
  const std::int64_t size = shape.numel(2, shape.rank());
  const Radius r(c, 0);
  const auto x = c.inputs[0].data<double>(), y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()) && size > 0; ++i) {
    double radii = 0.0, sum = 0.0;
    for (std::int64_t at = i * size; at < (i + 1) * size; ++at) {
      radii += r[at];
      sum += std::fabs(x[static_cast<std::size_t>(at)]);
    }
    out[static_cast<std::size_t>(i)] =
        mean_radius(c, radii, sum, size, y[static_cast<std::size_t>(i)]);
  }
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "AveragePool", .since = 1, .infer = infer, .eval = with_narrow<core>, .bound = bound},
    {.type = "GlobalAveragePool",
     .since = 1,
     .infer = infer_global,
     .eval = with_narrow<core_global>,
     .bound = bound_global}}};

}  // namespace
}  // namespace assay::ops::average_pool_op
