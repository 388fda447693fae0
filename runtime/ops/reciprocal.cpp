// Reciprocal (1, 6, 13): y = 1 / x; 1 / +-0 = +-inf.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::reciprocal_op {
namespace {

struct ReciprocalOp {
  using Fn = ReciprocalFn;
  static Fn make(const Attributes&) { return {}; }
  /// Monotone on either side of 0; without limit when [x - r, x + r] reaches 0.
  static double spread(const Fn& fn, double x, double r) {
    return std::fabs(x) > r ? monotone_spread(fn, x, r) : std::numeric_limits<double>::infinity();
  }
};

const RegisterOp registered{function_op<ReciprocalOp>("Reciprocal", 1)};

}  // namespace
}  // namespace assay::ops::reciprocal_op
