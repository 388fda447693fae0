// HardSwish (14): y = x * max(0, min(1, x / 6 + 1 / 2)), with 1/6 the real number. Slope at most
// 3/2.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::hard_swish_op {
namespace {

struct HardSwishOp {
  using Fn = HardSwishFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.5, r); }
};

const RegisterOp registered{function_op<HardSwishOp>("HardSwish", 14)};

}  // namespace
}  // namespace assay::ops::hard_swish_op
