// Add, Sub, Mul, Div (1, 6: broadcast attributes; 7, 13, 14: numpy broadcasting).
//
// Floats: IEEE 754, which is correctly rounded, so cr, f32 and f64 share one evaluation. Integers:
// two's complement with wrap-around; integer division truncates towards zero and by zero is an
// error.
#include <limits>

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/legacy_broadcast.h"

namespace assay::ops::arithmetic_op {
namespace {

/// Integers go through unsigned 64-bit arithmetic, where wrap-around is defined.
template <class T>
std::uint64_t bits(T v) {
  return static_cast<std::uint64_t>(v);
}

struct AddFn {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits(a) + bits(b));
    else
      return a + b;
  }
};

struct SubFn {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits(a) - bits(b));
    else
      return a - b;
  }
};

struct MulFn {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits(a) * bits(b));
    else
      return a * b;
  }
};

struct DivFn {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw Error({.what = "integer division by zero"});
      // The one quotient that does not fit wraps: min / -1 = min.
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - bits(a));
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_binary(c, DType::undefined);
}

/// Where nothing is broadcast.
template <class F>
RangeFn ranges(EvalContext& c) {
  RangeFn made;
  if (c.input(0).shape() != c.input(1).shape()) return made;
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = binary_ranges(c.in<T>(0).data(), c.in<T>(1).data(), c.out<T>(0).data(),
                         [](const T& x, const T& y) {
                           return store<T>(F::template apply<Wide<T>>(load<T>(x), load<T>(y)));
                         });
  });
  return made;
}

template <class F>
void eval(EvalContext& c) {
  if (const RangeFn all = ranges<F>(c))
    return parallel_for(0, c.output(0).numel(), kElementGrain, all);
  const Tensor b = second_operand(c);
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<T, T, T>(c.input(0), b, c.output(0), [](const Wide<T>& x, const Wide<T>& y) {
      return F::template apply<Wide<T>>(x, y);
    });
  });
}

/// radius = passed(a, ra, b, rb, y) + rounding of y.
template <class Passed>
void bound_binary(BoundContext& c, const Passed& passed) {
  Shape second = c.inputs[1].shape();
  if (c.opset < 7)
    second = Shape(legacy_operand(c.node->attributes, c.inputs[0].shape().vec(), second.vec()));
  const std::array<Shape, 2> shapes{c.inputs[0].shape(), second};
  const Radius ra(c, 0), rb(c, 1);
  const auto a = c.inputs[0].data<double>(), b = c.inputs[1].data<double>();
  const auto y = c.outputs[0].data<double>();
  double* out = new_radius(c).data();
  for_each_run(c.outputs[0].shape(), shapes, [&](const Run& r) {
    for (std::int64_t k = 0; k < r.count; ++k) {
      const std::int64_t i = r.offset[0] + k * r.step[0], j = r.offset[1] + k * r.step[1];
      const double value = y[static_cast<std::size_t>(r.first + k)];
      const double moved = passed(a[static_cast<std::size_t>(i)], ra[i],
                                  b[static_cast<std::size_t>(j)], rb[j], value);
      out[r.first + k] = outward(moved + own_error(c, value, 1.0));
    }
  });
}

void bound_add(BoundContext& c) {
  bound_binary(c, [](double, double ra, double, double rb, double) { return ra + rb; });
}

void bound_mul(BoundContext& c) {
  bound_binary(c, [](double a, double ra, double b, double rb, double) {
    return std::fabs(a) * rb + std::fabs(b) * ra + ra * rb;
  });
}

/// |a'/b' - a/b| <= (ra + |a/b| rb) / (|b| - rb) around the computed operands; without limit when b
/// may be 0.
void bound_div(BoundContext& c) {
  bound_binary(c, [](double a, double ra, double b, double rb, double) {
    if (ra == 0.0 && rb == 0.0) return 0.0;
    const double room = std::fabs(b) - rb;
    if (!(room > 0.0)) return std::numeric_limits<double>::infinity();
    return (ra + std::fabs(a) / std::fabs(b) * rb) / room;
  });
}

template <class F>
OpDef binary(const char* type, Bound bound) {
  return {.type = type,
          .since = 1,
          .infer = infer,
          .eval = eval<F>,
          .bound = bound,
          .in_place = true,
          .elementwise = {2, ranges<F>}};
}

const RegisterOp registered{
    std::vector<OpDef>{binary<AddFn>("Add", bound_add), binary<SubFn>("Sub", bound_add),
                       binary<MulFn>("Mul", bound_mul), binary<DivFn>("Div", bound_div)}};

}  // namespace
}  // namespace assay::ops::arithmetic_op
