// Gelu (20; com.microsoft 1): y = x (1 + erf(x / sqrt 2)) / 2, or with approximate = "tanh"
//   y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
// Slope at most 1.13 in either form. com.microsoft.QuickGelu: y = x / (1 + e^-(alpha x)),
// alpha 1.702f when absent, slope at most 1.1 for any alpha.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::gelu_op {
namespace {

struct GeluOp {
  using Fn = GeluErfFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.13, r); }
};

struct GeluTanhOp {
  using Fn = GeluTanhFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.13, r); }
};

struct QuickGeluOp {
  using Fn = SwishFn;
  static Fn make(const Attributes& attributes) { return {attributes.float_or("alpha", 1.702F)}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.1, r); }
};

bool tanh_form(const Attributes& attributes) {
  const std::string form = attributes.string_or("approximate", "none");
  if (form == "none" || form == "tanh") return form == "tanh";
  throw Error({.what = "unknown value of attribute 'approximate'",
               .got = "'" + form + "'",
               .expected = "none or tanh"});
}

void eval(EvalContext& c) {
  tanh_form(c.attributes()) ? eval_function<GeluTanhOp>(c) : eval_function<GeluOp>(c);
}

void bound(BoundContext& c) {
  tanh_form(c.node->attributes) ? bound_function<GeluTanhOp>(c) : bound_function<GeluOp>(c);
}

OpDef in_microsoft(OpDef def) {
  def.domain = "com.microsoft";
  return def;
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Gelu", .since = 20, .infer = infer_float_function, .eval = eval, .bound = bound},
    in_microsoft(function_op<GeluOp>("Gelu", 1)),
    in_microsoft(function_op<QuickGeluOp>("QuickGelu", 1))}};

}  // namespace
}  // namespace assay::ops::gelu_op
