// Sigmoid (1, 6, 13): y = 1 / (1 + e^-x). Slope at most 1/4.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::sigmoid_op {
namespace {

struct SigmoidOp {
  using Fn = SigmoidFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(0.25, r); }
};

const RegisterOp registered{function_op<SigmoidOp>("Sigmoid", 1)};

}  // namespace
}  // namespace assay::ops::sigmoid_op
