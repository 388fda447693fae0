// ThresholdedRelu (10): y = x for x > alpha, else 0; alpha is 1 when absent.
//
// The function jumps at alpha: an interval that reaches alpha may be off by the whole value.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::thresholded_relu_op {
namespace {

struct ThresholdedReluOp {
  using Fn = ThresholdedReluFn;
  static Fn make(const Attributes& attributes) { return {attributes.float_or("alpha", 1.0F)}; }
  static double spread(const Fn& fn, double x, double r) {
    const double distance = std::fabs(x - double{fn.alpha});
    return distance > r ? r : std::fabs(x) + r;
  }
};

const RegisterOp registered{function_op<ThresholdedReluOp>("ThresholdedRelu", 10)};

}  // namespace
}  // namespace assay::ops::thresholded_relu_op
