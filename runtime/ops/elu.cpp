// Elu (1, 6): y = x for x >= 0, else alpha (e^x - 1); alpha is 1 when absent. Slope at most max(1,
// |alpha|).
#include "runtime/ops/support/function_op.h"

namespace assay::ops::elu_op {
namespace {

struct EluOp {
  using Fn = EluFn;
  static Fn make(const Attributes& attributes) { return {attributes.float_or("alpha", 1.0F)}; }
  static double spread(const Fn& fn, double, double r) {
    return lipschitz(std::max(1.0F, std::fabs(fn.alpha)), r);
  }
};

const RegisterOp registered{function_op<EluOp>("Elu", 1)};

}  // namespace
}  // namespace assay::ops::elu_op
