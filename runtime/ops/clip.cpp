// Clip (1, 6: attributes min and max; 11, 12, 13: inputs): y = min(max(x, min), max).
//
// An absent limit (no attribute, no input, an empty name) does not limit: infinities pass. A limit
// without elements is an error. max wins when min > max. NaN is passed on; integers from opset 12.
#include "runtime/ops/support/clip.h"

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::clip_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  for (std::size_t i = 1; i < c.input_count(); ++i) {
    if (c.has_input(i)) require_same_dtype(c, 0, i);
  }
  infer_same(c);
}

template <class T>
T limit_input(const Tensor& t, const char* name) {
  if (t.numel() != 1) {
    throw Error({.what = std::string("limit '") + name + "' of Clip must hold one value",
                 .got = describe(t),
                 .expected = "a scalar"});
  }
  return t.data<T>()[0];
}

template <class T>
ClipLimits<T> limits_of(const EvalContext& c) {
  ClipLimits<T> l;
  if (c.opset < 11) {
    const Attributes& a = c.attributes();
    l.has_low = a.has("min");
    l.has_high = a.has("max");
    l.low = T(a.float_or("min", 0.0F));
    l.high = T(a.float_or("max", 0.0F));
    return l;
  }
  l.has_low = c.has_input(1);
  l.has_high = c.has_input(2);
  if (l.has_low) l.low = limit_input<T>(c.input(1), "min");
  if (l.has_high) l.high = limit_input<T>(c.input(2), "max");
  return l;
}

RangeFn ranges(EvalContext& c) {
  RangeFn made;
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = unary_ranges(c.in<T>(0).data(), c.out<T>(0).data(),
                        [limits = limits_of<T>(c)](const T& v) { return clip(v, limits); });
  });
  return made;
}

/// Limits that are computed carry their own radius; a single value moves the output by at most
/// that.
void bound(BoundContext& c) {
  bound_lipschitz(c, 1.0, 0.0);
  const auto out = c.result[0].mutable_data<double>();
  for (std::size_t i = 1; i < c.radii.size(); ++i) {
    const double r = Radius(c, i)[0];
    for (double& v : out) v = std::max(v, r);
  }
}

const RegisterOp registered{{.type = "Clip",
                             .since = 1,
                             .infer = infer,
                             .eval = eval_ranges<ranges>,
                             .bound = bound,
                             .in_place = true,
                             .elementwise = {1, ranges}}};

}  // namespace
}  // namespace assay::ops::clip_op
