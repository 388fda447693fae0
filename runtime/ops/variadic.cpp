// Sum, Mean (1, 6, 8, 13) and Max, Min (1, 6, 8, 12, 13) of any number of inputs, broadcast from
// opset 8 on.
//
// cr of Sum and Mean rounds the exact sum (or quotient) of all inputs once; f32 adds them in order.
// Max and Min pass the first largest (smallest) operand on with its bits; a NaN among them is the
// result. Integers for Max and Min from opset 12 on.
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops::variadic_op {
namespace {

/// Calls fn(the inputs' values at one output, output) for every output.
template <class T, class F>
void fold(EvalContext& c, const F& fn) {
  std::vector<const T*> data;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    data.push_back(c.in<T>(i).data());
    shapes.push_back(c.input(i).shape());
  }
  T* out = c.out<T>(0).data();
  for_each_run(c.output(0).shape(), shapes, [&](const Run& r) {
    std::vector<T> values(data.size());
    for (std::int64_t k = 0; k < r.count; ++k) {
      for (std::size_t i = 0; i < data.size(); ++i)
        values[i] = data[i][r.offset[i] + k * r.step[i]];
      out[r.first + k] = fn(std::span<const T>(values));
    }
  });
}

template <class T>
T in_order(std::span<const T> values) {
  T sum = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) sum = sum + values[i];
  return sum;
}

/// The exact sum is zero only with its sign rule: +0 unless every addend is -0.
template <class T, bool Mean>
T sum_of(std::span<const T> values, bool correct) {
  const auto n = static_cast<double>(values.size());
  if constexpr (std::is_same_v<T, float>) {
    if (correct) return Mean ? cr_mean(values) : cr_sum(values);
  }
  const T sum = in_order(values);
  return canonical(Mean ? T(sum / T(n)) : sum);
}

template <bool Mean>
void core_sum(EvalContext& c) {
  const bool correct = c.precision == Precision::cr;
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<T>(c, [correct](std::span<const T> v) { return sum_of<T, Mean>(v, correct); });
  });
}

template <bool Largest>
void eval_choice(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<T>(c, [](std::span<const T> v) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const Wide<T> x = load<T>(v[i]), y = load<T>(v[best]);
        if (not_a_number(x)) return v[i];
        if (Largest ? x > y : x < y) best = i;
      }
      return v[best];
    });
  });
}

void infer_sum(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_broadcast(c);
}

void infer_choice(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_broadcast(c);
}

/// Radii add up; n - 1 additions each err by u times a partial sum, at most the sum of the
/// magnitudes, and Mean divides.
template <bool Mean>
void bound_sum(BoundContext& c) {
  std::vector<Shape> shapes;
  std::vector<Radius> radii;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    shapes.push_back(c.inputs[i].shape());
    radii.emplace_back(c, i);
  }
  const auto n = static_cast<double>(c.inputs.size());
  const auto y = c.outputs[0].data<double>();
  double* out = new_radius(c).data();
  for_each_run(c.outputs[0].shape(), shapes, [&](const Run& r) {
    for (std::int64_t k = 0; k < r.count; ++k) {
      double passed = 0.0, size = 0.0;
      for (std::size_t i = 0; i < radii.size(); ++i) {
        const std::int64_t at = r.offset[i] + k * r.step[i];
        passed += radii[i][at];
        size += std::fabs(c.inputs[i].data<double>()[static_cast<std::size_t>(at)]);
      }
      const double total = passed + (n - 1) * c.unit * (1.0 + n * c.unit) * size;
      const double last = Mean ? own_error(c, y[static_cast<std::size_t>(r.first + k)], 1.0) : 0.0;
      out[r.first + k] = outward((Mean ? total / n : total) * (1.0 + 2 * c.unit) + last);
    }
  });
}

const RegisterOp registered{std::vector<OpDef>{{.type = "Sum",
                                                .since = 1,
                                                .infer = infer_sum,
                                                .eval = with_narrow<core_sum<false>>,
                                                .bound = bound_sum<false>},
                                               {.type = "Mean",
                                                .since = 1,
                                                .infer = infer_sum,
                                                .eval = with_narrow<core_sum<true>>,
                                                .bound = bound_sum<true>},
                                               {.type = "Max",
                                                .since = 1,
                                                .infer = infer_choice,
                                                .eval = eval_choice<true>,
                                                .bound = bound_selection},
                                               {.type = "Min",
                                                .since = 1,
                                                .infer = infer_choice,
                                                .eval = eval_choice<false>,
                                                .bound = bound_selection}}};

}  // namespace
}  // namespace assay::ops::variadic_op
