// Equal (1, 7, 11, 13, 19), Greater, Less (1, 7, 9, 13) and GreaterOrEqual, LessOrEqual (12, 16):
// bool results with broadcasting.
//
// A comparison with NaN is false; -0 equals +0. Before opset 7 the attributes `broadcast` and
// `axis` rule.
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/legacy_broadcast.h"

namespace assay::ops::compare_op {
namespace {

struct EqualFn {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a == b;
  }
};
struct GreaterFn {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a > b;
  }
};
struct LessFn {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a < b;
  }
};
struct GreaterOrEqualFn {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a >= b;
  }
};
struct LessOrEqualFn {
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a <= b;
  }
};

void infer(InferContext& c) { infer_binary(c, DType::boolean); }

template <class F>
void eval(EvalContext& c) {
  const Tensor b = second_operand(c);
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<bool, T, T>(c.input(0), b, c.output(0),
                           [](const Wide<T>& x, const Wide<T>& y) { return F::apply(x, y); });
  });
}

template <class F>
OpDef comparison(const char* type, int since) {
  return {.type = type, .since = since, .infer = infer, .eval = eval<F>};
}

const RegisterOp registered{std::vector<OpDef>{
    comparison<EqualFn>("Equal", 1), comparison<GreaterFn>("Greater", 1),
    comparison<LessFn>("Less", 1), comparison<GreaterOrEqualFn>("GreaterOrEqual", 12),
    comparison<LessOrEqualFn>("LessOrEqual", 12)}};

}  // namespace
}  // namespace assay::ops::compare_op
