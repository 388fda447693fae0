// Celu (12): y = x for x >= 0, else alpha (e^(x / alpha) - 1); alpha is 1 when absent. Slope at
// most 1 for alpha > 0.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::celu_op {
namespace {

struct CeluOp {
  using Fn = CeluFn;
  static Fn make(const Attributes& attributes) { return {attributes.float_or("alpha", 1.0F)}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<CeluOp>("Celu", 12)};

}  // namespace
}  // namespace assay::ops::celu_op
