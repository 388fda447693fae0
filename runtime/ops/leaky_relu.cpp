// LeakyRelu (1, 6, 16): y = x for x >= 0, else alpha x; alpha is 0.01f when absent. Slope at most
// max(1, |alpha|).
#include "runtime/ops/support/function_op.h"

namespace assay::ops::leaky_relu_op {
namespace {

struct LeakyReluOp {
  using Fn = LeakyReluFn;
  static Fn make(const Attributes& attributes) { return {attributes.float_or("alpha", 0.01F)}; }
  static double spread(const Fn& fn, double, double r) {
    return lipschitz(std::max(1.0F, std::fabs(fn.alpha)), r);
  }
};

const RegisterOp registered{function_op<LeakyReluOp>("LeakyRelu", 1)};

}  // namespace
}  // namespace assay::ops::leaky_relu_op
