// Softmax, LogSoftmax and Hardmax (1, 11: everything from `axis` on is one row, default axis 1; 13:
// one axis, default -1).
//
//   softmax    y_i = e^(x_i) / sum_j e^(x_j)
//   logsoftmax y_i = x_i - log sum_j e^(x_j)
//   hardmax    y_i = 1 at the first largest element, else 0
// cr rounds the exact composite once per output; f32 subtracts the row's largest element first
// (rows.h). A row that holds a NaN or +inf, or only -inf, is all NaN (softmax, logsoftmax).
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/rows.h"

namespace assay::ops::softmax_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_same(c);
}

RowLayout layout_of(const Node& node, std::int64_t opset, const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (opset < 13) return flat_rows(shape, node.attributes.int_or("axis", 1));
  return axis_rows(shape, node.attributes.int_or("axis", -1));
}

struct SoftmaxFn {
  static void correct(std::span<const float> x, std::span<float> y) { cr_softmax(x, y); }
  template <class T>
  static void canonical_order(std::span<const T> x, std::span<T> y) {
    row_softmax<T>(x, y);
  }
};

struct LogSoftmaxFn {
  static void correct(std::span<const float> x, std::span<float> y) { cr_log_softmax(x, y); }
  template <class T>
  static void canonical_order(std::span<const T> x, std::span<T> y) {
    row_log_softmax<T>(x, y);
  }
};

struct HardmaxFn {
  template <class T>
  static void canonical_order(std::span<const T> x, std::span<T> y) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > x[best]) best = i;
      y[i] = T(0.0);
    }
    y[best] = T(1.0);
  }
  static void correct(std::span<const float> x, std::span<float> y) {
    canonical_order<float>(x, y);
  }
};

template <class Fn>
void core(EvalContext& c) {
  const RowLayout l = layout_of(*c.node, c.opset, c.input(0).shape());
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_rows<T>(c.in<T>(0), c.out<T>(0), l,
                [&](std::int64_t, std::span<const T> x, std::span<T> y) {
                  if constexpr (std::is_same_v<T, float>) {
                    if (c.precision == Precision::cr) return Fn::correct(x, y);
                  }
                  Fn::template canonical_order<T>(x, y);
                });
  });
}

/// Largest radius of each row, spread over its elements, and the number of elements.
template <class F>
void bound_rows(BoundContext& c, const F& radius_of) {
  const RowLayout l = layout_of(*c.node, c.opset, c.inputs[0].shape());
  const Radius r(c, 0);
  const auto x = c.inputs[0].data<double>(), y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::int64_t row = 0; row < l.rows(); ++row) {
    double widest = 0.0, span = 0.0, top = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < l.row; ++k) {
      const std::int64_t at = l.offset(row) + k * l.inner;
      widest = std::max(widest, r[at]);
      top = std::max(top, x[static_cast<std::size_t>(at)]);
    }
    for (std::int64_t k = 0; k < l.row; ++k)
      span = std::max(span, top - x[static_cast<std::size_t>(l.offset(row) + k * l.inner)]);
    for (std::int64_t k = 0; k < l.row; ++k) {
      const auto at = static_cast<std::size_t>(l.offset(row) + k * l.inner);
      out[at] = outward(radius_of(y[at], widest, span, static_cast<double>(l.row)));
    }
  }
}

/// Moving every x_j by at most r multiplies y by at most e^(2r). Own error: x - max is rounded
/// (relative u of a difference of at most `span`, which e^ turns into a factor 1 + u span), e^, the
/// sum of n terms and the quotient.
void bound_softmax(BoundContext& c) {
  bound_rows(c, [&](double y, double r, double span, double n) {
    const double own = (2 * span + n + 6) * std::max(c.unit, dd_error()) * 2;
    return y * (std::expm1(2 * r) * (1 + 0x1p-40) + own) + (n + 2) * c.tiny;
  });
}

void bound_log_softmax(BoundContext& c) {
  bound_rows(c, [&](double y, double r, double span, double n) {
    const double own = (2 * span + n + 6 + 3 * std::fabs(y)) * std::max(c.unit, dd_error()) * 2;
    return 2 * r + own + 2 * c.tiny;
  });
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Softmax",
     .since = 1,
     .infer = infer,
     .eval = with_narrow<core<SoftmaxFn>>,
     .bound = bound_softmax},
    {.type = "LogSoftmax",
     .since = 1,
     .infer = infer,
     .eval = with_narrow<core<LogSoftmaxFn>>,
     .bound = bound_log_softmax},
    {.type = "Hardmax", .since = 1, .infer = infer, .eval = with_narrow<core<HardmaxFn>>}}};

}  // namespace
}  // namespace assay::ops::softmax_op
