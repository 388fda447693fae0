// PRelu (1, 6: one slope or one per channel; 7, 9, 16: unidirectional broadcasting): y = x for x >=
// 0, else slope * x.
//
// The product is correctly rounded. Integers wrap (opset 9).
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::prelu_op {
namespace {

/// The slope as numpy broadcasting wants it: before opset 7 a vector of slopes belongs to axis 1.
Shape slope_shape(std::int64_t opset, const Shape& x, const Shape& slope) {
  if (opset < 7 && slope.rank() == 1 && slope[0] != 1 && x.rank() > 1) {
    std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank() - 1), 1);
    dims[0] = slope[0];
    return Shape(dims);
  }
  return slope;
}

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  require_same_dtype(c, 0, 1);
  infer_same(c);
}

void eval(EvalContext& c) {
  const Shape& x = c.input(0).shape();
  const Tensor slope = c.input(1).reshaped(slope_shape(c.opset, x, c.input(1).shape()));
  if (broadcast(x, slope.shape()) != x) {
    throw Error({.what = "slope of PRelu does not broadcast to the input",
                 .got = describe(slope),
                 .expected = to_string(x)});
  }
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<T, T, T>(c.input(0), slope, c.output(0), [](const Wide<T>& v, const Wide<T>& s) {
      if (v >= Wide<T>(0.0F)) return v;
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(s));
      else
        return static_cast<Wide<T>>(v * s);
    });
  });
}

void bound(BoundContext& c) {
  if (c.radii.size() > 1 && c.radii[1].defined()) return;
  double slope = 1.0;
  for (const double s : c.inputs[1].data<double>()) slope = std::max(slope, std::fabs(s));
  bound_lipschitz(c, slope, 1.0);
}

const RegisterOp registered{
    {.type = "PRelu", .since = 1, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::prelu_op
