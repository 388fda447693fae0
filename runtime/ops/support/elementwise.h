// Elementwise evaluation with broadcasting, written once over the element types.
//
// A functor is a type with `template <class T> static T apply(T ...)` for the types it serves
// (float, double, dd; wide double for float16/bfloat16; integers where the operator allows them).
// Work is split over outputs, so the bits do not depend on the number of threads.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "runtime/numeric/block_map.h"
#include "runtime/numeric/parallel.h"
#include "runtime/op.h"
#include "runtime/ops/support/scalar.h"

namespace assay::ops {

/// A stretch of consecutive outputs [first, first + count); operand i is read at offset[i] + k *
/// step[i].
struct Run {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::span<const std::int64_t> offset;
  std::span<const std::int64_t> step;
};

/// Calls fn for runs that cover every element of `out`, operands broadcast to it, in parallel.
void for_each_run(const Shape& out, std::span<const Shape> operands,
                  const std::function<void(const Run&)>& fn);

inline constexpr std::int64_t kElementGrain = 16384;

/// y[i] = f(x[i]) on arrays that outlive the result (Elementwise::prepare).
template <class T, class F>
RangeFn unary_ranges(const T* x, T* y, const F& f) {
  return [x, y, f](std::int64_t first, std::int64_t last) {
    map_part(last - first, f, x + first, y + first);
  };
}

/// y[i] = f(a[i], b[i]).
template <class T, class F>
RangeFn binary_ranges(const T* a, const T* b, T* y, const F& f) {
  return [a, b, y, f](std::int64_t first, std::int64_t last) {
    map_part(last - first, f, a + first, b + first, y + first);
  };
}

/// Evaluation of an operator that is elementwise on every input.
template <RangeFn (*prepare)(EvalContext&)>
void eval_ranges(EvalContext& c) {
  parallel_for(0, c.output(0).numel(), kElementGrain, prepare(c));
}

/// y[i] = f(x[i]); f maps Wide<In> to Wide<Out>.
template <class Out, class In, class F>
void map_unary(const Tensor& x, Tensor& y, const F& f) {
  const auto in = x.data<In>();
  const auto out = y.mutable_data<Out>();
  parallel_for(0, x.numel(), kElementGrain, [&](std::int64_t first, std::int64_t last) {
    map_block(in.data() + first, out.data() + first, last - first,
              [&f](const In& v) { return store<Out>(f(load<In>(v))); });
  });
}

/// y = f(a, b) with broadcasting.
template <class Out, class A, class B, class F>
void map_binary(const Tensor& a, const Tensor& b, Tensor& y, const F& f) {
  const A* pa = a.data<A>().data();
  const B* pb = b.data<B>().data();
  Out* out = y.mutable_data<Out>().data();
  const std::array<Shape, 2> shapes{a.shape(), b.shape()};
  for_each_run(y.shape(), shapes, [&](const Run& r) {
    const A* x = pa + r.offset[0];
    const B* z = pb + r.offset[1];
    const std::int64_t sx = r.step[0];
    const std::int64_t sz = r.step[1];
    if (sx == 1 && sz == 1) {
      return map_block(x, z, out + r.first, r.count, [&f](const A& v, const B& w) {
        return store<Out>(f(load<A>(v), load<B>(w)));
      });
    }
    for (std::int64_t k = 0; k < r.count; ++k)
      out[r.first + k] = store<Out>(f(load<A>(x[k * sx]), load<B>(z[k * sz])));
  });
}

/// f(std::type_identity<T>{}) for float16, bfloat16, float32, float64 and dd; Error (unsupported)
/// otherwise.
template <class F>
void visit_float(DType t, const F& f) {
  switch (t) {
    case DType::float16:
      return f(std::type_identity<Half>{});
    case DType::bfloat16:
      return f(std::type_identity<BFloat16>{});
    default:
      return visit_real(t, f);
  }
}

/// As visit_float, and the integer types.
template <class F>
void visit_number(DType t, const F& f) {
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      throw Error({.what = "unsupported element type",
                   .got = "bool",
                   .expected = "a number type",
                   .kind = ErrorKind::unsupported});
    } else {
      f(tag);
    }
  });
}

/// Evaluation of a unary operator on floats: y = F::apply(x).
template <class F>
void eval_unary_float(EvalContext& c) {
  visit_float(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_unary<T, T>(c.input(0), c.output(0), [](const Wide<T>& v) { return F::apply(v); });
  });
}

/// Evaluation of a unary operator on floats and integers.
template <class F>
void eval_unary_number(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_unary<T, T>(c.input(0), c.output(0),
                    [](const Wide<T>& v) { return static_cast<Wide<T>>(F::apply(v)); });
  });
}

/// Evaluation of a binary operator on floats and integers, both operands of one type.
template <class F>
void eval_binary_number(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<T, T, T>(
        c.input(0), c.input(1), c.output(0),
        [](const Wide<T>& a, const Wide<T>& b) { return static_cast<Wide<T>>(F::apply(a, b)); });
  });
}

}  // namespace assay::ops
