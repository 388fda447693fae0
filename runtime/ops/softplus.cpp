// Softplus (1): y = log(1 + e^x). Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::softplus_op {
namespace {

struct SoftplusOp {
  using Fn = SoftplusFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<SoftplusOp>("Softplus", 1)};

}  // namespace
}  // namespace assay::ops::softplus_op
