// Shrink (9): y = x + bias for x < -lambd, x - bias for x > lambd, else 0; bias 0, lambd 0.5 when
// absent.
//
// Sum and difference are rounded once; integers truncate the real result towards zero, as a
// conversion does.
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::shrink_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_same(c);
}

void eval(EvalContext& c) {
  const float bias = c.attributes().float_or("bias", 0.0F);
  const float edge = c.attributes().float_or("lambd", 0.5F);
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = std::conditional_t<std::is_integral_v<T>, double, Wide<T>>;
    map_unary<T, T>(c.input(0), c.output(0), [bias, edge](const Wide<T>& v) {
      const W x = static_cast<W>(v), b = W(bias), l = W(edge);
      if (not_a_number(x)) return v;
      const W y = x < -l ? W(x + b) : x > l ? W(x - b) : W(0.0F);
      if constexpr (std::is_integral_v<T>)
        return convert(Tensor::scalar<double>(std::trunc(y)), dtype_of<T>).template data<T>()[0];
      else
        return y;
    });
  });
}

const RegisterOp registered{{.type = "Shrink", .since = 9, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::shrink_op
