// Tanh (1, 6, 13): y = (e^2x - 1) / (e^2x + 1). Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::tanh_op {
namespace {

struct TanhOp {
  using Fn = TanhFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<TanhOp>("Tanh", 1)};

}  // namespace
}  // namespace assay::ops::tanh_op
