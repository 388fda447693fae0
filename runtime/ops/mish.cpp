// Mish (18): y = x * tanh(log(1 + e^x)). Slope at most 1.0884 (its maximum, near x = 1.5).
#include "runtime/ops/support/function_op.h"

namespace assay::ops::mish_op {
namespace {

struct MishOp {
  using Fn = MishFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.1, r); }
};

const RegisterOp registered{function_op<MishOp>("Mish", 18)};

}  // namespace
}  // namespace assay::ops::mish_op
