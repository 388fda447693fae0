// HardSigmoid (1, 6): y = max(0, min(1, alpha x + beta)); alpha 0.2f, beta 0.5f when absent.
//
// cr and f32 round alpha x + beta once (alpha and beta at their stored value). Slope at most
// |alpha|.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::hard_sigmoid_op {
namespace {

struct HardSigmoidOp {
  using Fn = HardSigmoidFn;
  static Fn make(const Attributes& attributes) {
    return {attributes.float_or("alpha", 0.2F), attributes.float_or("beta", 0.5F)};
  }
  static double spread(const Fn& fn, double, double r) {
    return lipschitz(std::fabs(double{fn.alpha}), r);
  }
};

const RegisterOp registered{function_op<HardSigmoidOp>("HardSigmoid", 1)};

}  // namespace
}  // namespace assay::ops::hard_sigmoid_op
