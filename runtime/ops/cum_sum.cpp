// CumSum (11, 14): running sums along one axis (input 1), optionally exclusive and from the end.
//
// cr rounds each exact partial sum once; f32 adds one element at a time. Integers wrap.
#include <algorithm>

#include "runtime/numeric/exact_accumulator.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/rows.h"

namespace assay::ops::cum_sum_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_same(c);
}

template <class T>
void running(std::span<const T> x, std::span<T> y) {
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = static_cast<T>(sum += static_cast<std::uint64_t>(x[i]));
  } else {
    T sum = x[0];
    y[0] = canonical(sum);
    for (std::size_t i = 1; i < x.size(); ++i) y[i] = canonical(sum = sum + x[i]);
  }
}

/// Exact partial sums; from the first non-finite element on the sums follow IEEE 754.
void running_exact(std::span<const float> x, std::span<float> y) {
  FloatAccumulator sum;
  bool all_minus_zero = true, finite = true;
  float special = 0.0F;
  for (std::size_t i = 0; i < x.size(); ++i) {
    all_minus_zero = all_minus_zero && x[i] == 0.0F && std::signbit(x[i]);
    if (!std::isfinite(x[i])) finite = false;
    if (finite) {
      sum.add(static_cast<double>(x[i]));
      y[i] = sum.is_zero() ? (all_minus_zero ? -0.0F : 0.0F) : sum.round_to_float();
    } else {
      if (!std::isfinite(x[i])) special += x[i];
      y[i] = canonical(special);
    }
  }
}

template <class T>
void row_of(std::span<const T> x, std::span<T> y, bool correct) {
  if constexpr (std::is_same_v<T, float>)
    if (correct) return running_exact(x, y);
  running<T>(x, y);
}

template <class T>
void run(EvalContext& c, const RowLayout& l) {
  const bool exclusive = c.attributes().int_or("exclusive", 0) != 0;
  const bool reverse = c.attributes().int_or("reverse", 0) != 0;
  const bool correct = c.precision == Precision::cr;
  map_rows<T>(c.in<T>(0), c.out<T>(0), l, [&](std::int64_t, std::span<const T> x, std::span<T> y) {
    std::vector<T> in(x.begin(), x.end());
    if (reverse) std::reverse(in.begin(), in.end());
    row_of<T>(in, y, correct);
    if (exclusive) {
      std::copy_backward(y.begin(), y.end() - 1, y.end());
      y[0] = T(0.0F);
    }
    if (reverse) std::reverse(y.begin(), y.end());
  });
}

void core(EvalContext& c) {
  const std::int64_t axis = to_ints(c.input(1)).at(0);
  const RowLayout l = axis_rows(c.input(0).shape(), axis);
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_narrow<T>) run<T>(c, l);
  });
}

const RegisterOp registered{
    {.type = "CumSum", .since = 11, .infer = infer, .eval = with_narrow<core>}};

}  // namespace
}  // namespace assay::ops::cum_sum_op
