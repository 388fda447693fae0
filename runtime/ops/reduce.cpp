// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare,
// ReduceLogSum, ReduceLogSumExp (1, 11: axes attribute; ReduceSum from 13 and the others from 18
// on: axes input and noop_with_empty_axes).
//
//   L1 = sum |x|, L2 = sqrt(sum x^2), SumSquare = sum x^2, LogSum = log(sum x), LogSumExp = log(sum
//   e^x)
// cr rounds the exact composite once; f32 uses the lanes of row_sum. Over no elements: sum 0,
// product 1, mean NaN, log of a sum -inf, max the lowest and min the highest value of the type. Max
// and Min pass a NaN on. Integer sums and products wrap, an integer mean truncates, LogSum,
// LogSumExp and L2 need floats.
#include <limits>

#include "runtime/numeric/dot_radius.h"
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/reduce.h"

namespace assay::ops::reduce_op {
namespace {

/// First opset whose axes are an input.
int input_since(const std::string& type) { return type == "ReduceSum" ? 13 : 18; }

std::optional<ReduceAxes> axes_of(const Node& node, std::int64_t opset, const Tensor* input) {
  ReduceAxes a;
  a.keep = node.attributes.int_or("keepdims", 1) != 0;
  if (opset < input_since(node.op_type)) {
    a.axes = node.attributes.ints_or("axes", {});
    return a;
  }
  if (node.has_input(1)) {
    if (input == nullptr) return std::nullopt;
    a.axes = to_ints(*input);
  }
  a.identity = a.axes.empty() && node.attributes.int_or("noop_with_empty_axes", 0) != 0;
  return a;
}

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  const auto axes = axes_of(*c.node, c.opset, c.constant(1));
  TensorType out{c.input(0).dtype, std::nullopt};
  if (axes && c.input(0).dims) out.dims = reduced_dims(*axes, *c.input(0).dims);
  c.set_output(0, out);
}

/// What one row becomes. `correct` is cr for float32 rows.
struct SumFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_sum(x);
    return row_sum<T>(x);
  }
};

struct MeanFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_mean(x);
    return row_mean<T>(x);
  }
};

template <class T>
std::vector<T> magnitudes(std::span<const T> x) {
  std::vector<T> out;
  for (const T& v : x) out.push_back(v < T(0.0) ? T(-v) : v);
  return out;
}

struct L1Fn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_sum_abs(x);
    return row_sum<T>(magnitudes(x));
  }
};

struct SumSquareFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_sum_square(x);
    return row_dot<T>(x, x);
  }
};

struct L2Fn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_l2(x);
    return row_l2<T>(x);
  }
};

struct LogSumFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_log_sum(x);
    return evaluate(LogFn{}, row_sum<T>(x));
  }
};

struct LogSumExpFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_log_sum_exp(x);
    return row_log_sum_exp<T>(x);
  }
};

struct ProdFn {
  template <class T>
  static T apply(std::span<const T> x, bool correct) {
    if constexpr (std::is_same_v<T, float>)
      if (correct) return cr_prod(x);
    T product = T(1.0);
    for (const T& v : x) product = product * v;
    return product;
  }
};

/// Calls fn(row) -> value for every output.
template <class T, class F>
void reduce(EvalContext& c, const F& fn) {
  const auto axes = axes_of(*c.node, c.opset, c.has_input(1) ? &c.input(1) : nullptr);
  const Shape& shape = c.input(0).shape();
  const ReducePlan plan = plan_reduce(shape, reduced_axes(*axes, shape.rank()));
  const auto x = c.in<T>(0);
  const auto y = c.out<T>(0);
  const auto outputs = static_cast<std::int64_t>(plan.base.size());
  parallel_for(0, outputs, 8, [&](std::int64_t first, std::int64_t last) {
    std::vector<T> row(plan.step.size());
    for (std::int64_t o = first; o < last; ++o) {
      const std::int64_t base = plan.base[static_cast<std::size_t>(o)];
      for (std::size_t k = 0; k < row.size(); ++k)
        row[k] = x[static_cast<std::size_t>(base + plan.step[k])];
      y[static_cast<std::size_t>(o)] = fn(std::span<const T>(row));
    }
  });
}

/// Integers: wrapping arithmetic in 64 bits.
template <class Fn, class T>
T integer_row(std::span<const T> x) {
  std::uint64_t sum = 0, product = 1, squares = 0, sizes = 0;
  for (const T v : x) {
    const auto bits = static_cast<std::uint64_t>(v);
    sum += bits;
    product *= bits;
    squares += bits * bits;
    sizes += v < T(0) ? 0 - bits : bits;
  }
  if constexpr (std::is_same_v<Fn, SumFn>)
    return static_cast<T>(sum);
  else if constexpr (std::is_same_v<Fn, ProdFn>)
    return static_cast<T>(product);
  else if constexpr (std::is_same_v<Fn, SumSquareFn>)
    return static_cast<T>(squares);
  else if constexpr (std::is_same_v<Fn, L1Fn>)
    return static_cast<T>(sizes);
  else if constexpr (std::is_same_v<Fn, MeanFn>) {
    if (x.empty()) throw Error({.what = "integer mean over no elements"});
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(sum) / static_cast<std::int64_t>(x.size()));
    else
      return static_cast<T>(sum / x.size());
  } else {
    throw Error({.what = "this reduction needs floats",
                 .got = to_string(dtype_of<T>),
                 .kind = ErrorKind::unsupported});
  }
}

template <class Fn>
void core(EvalContext& c) {
  const bool correct = c.precision == Precision::cr;
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_real<T>)
      reduce<T>(c, [&](std::span<const T> row) {
        return canonical(Fn::template apply<T>(row, correct));
      });
    else if constexpr (std::is_integral_v<T>)
      reduce<T>(c, [](std::span<const T> row) { return integer_row<Fn, T>(row); });
  });
}

template <class T, bool Largest>
T edge() {
  if constexpr (is_narrow<T>)
    return T(Largest ? -infinity<double>() : infinity<double>());
  else if constexpr (is_real<T>)
    return Largest ? T(-infinity<T>()) : infinity<T>();
  else
    return Largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

template <bool Largest>
void eval_choice(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<T>(c, [](std::span<const T> row) {
      if (row.empty()) return edge<T, Largest>();
      std::size_t best = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const Wide<T> v = load<T>(row[i]), top = load<T>(row[best]);
        if (not_a_number(v)) return row[i];
        if (Largest ? v > top : v < top) best = i;
      }
      return row[best];
    });
  });
}

/// Radius of a row from its sum of magnitudes, its radii and the result.
struct RowBound {
  double size = 0.0, radii = 0.0, widest = 0.0, y = 0.0;
  std::int64_t n = 0;
};

template <class F>
void bound_rows(BoundContext& c, const F& fn) {
  Tensor axes_input;
  if (c.inputs.size() > 1 && c.inputs[1].defined()) axes_input = convert(c.inputs[1], DType::int64);
  const auto axes = axes_of(*c.node, c.opset, axes_input.defined() ? &axes_input : nullptr);
  const Shape& shape = c.inputs[0].shape();
  const ReducePlan plan = plan_reduce(shape, reduced_axes(*axes, shape.rank()));
  const Radius r(c, 0);
  const auto x = c.inputs[0].data<double>();
  auto out = new_radius(c);
  for (std::size_t o = 0; o < out.size(); ++o) {
    RowBound row;
    row.n = static_cast<std::int64_t>(plan.step.size());
    row.y = c.outputs[0].data<double>()[o];
    for (const std::int64_t step : plan.step) {
      const std::int64_t at = plan.base[o] + step;
      row.size += std::fabs(x[static_cast<std::size_t>(at)]);
      row.radii += r[at];
      row.widest = std::max(row.widest, r[at]);
    }
    out[o] = outward(fn(row));
  }
}

void bound_sum(BoundContext& c) {
  bound_rows(c, [&](const RowBound& r) {
    return r.radii + gamma_n(sum_depth(c, r.n), c.unit) * (r.size + r.radii);
  });
}

void bound_mean(BoundContext& c) {
  bound_rows(c, [&](const RowBound& r) {
    const double n = static_cast<double>(std::max<std::int64_t>(1, r.n));
    return (r.radii + gamma_n(sum_depth(c, r.n), c.unit) * (r.size + r.radii)) / n *
               (1 + 2 * c.unit) +
           own_error(c, r.y, 1.0);
  });
}

void bound_choice(BoundContext& c) {
  bound_rows(c, [](const RowBound& r) { return r.widest; });
}

OpDef reduction(const char* type, Eval eval, Bound bound = nullptr) {
  return {.type = type, .since = 1, .infer = infer, .eval = eval, .bound = bound};
}

const RegisterOp registered{
    std::vector<OpDef>{reduction("ReduceSum", with_narrow<core<SumFn>>, bound_sum),
                       reduction("ReduceMean", with_narrow<core<MeanFn>>, bound_mean),
                       reduction("ReduceL1", with_narrow<core<L1Fn>>, bound_sum),
                       reduction("ReduceL2", with_narrow<core<L2Fn>>),
                       reduction("ReduceSumSquare", with_narrow<core<SumSquareFn>>),
                       reduction("ReduceLogSum", with_narrow<core<LogSumFn>>),
                       reduction("ReduceLogSumExp", with_narrow<core<LogSumExpFn>>),
                       reduction("ReduceProd", with_narrow<core<ProdFn>>),
                       reduction("ReduceMax", eval_choice<true>, bound_choice),
                       reduction("ReduceMin", eval_choice<false>, bound_choice)}};

}  // namespace
}  // namespace assay::ops::reduce_op
