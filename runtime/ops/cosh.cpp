// Cosh (9): y = (e^x + e^-x) / 2.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::cosh_op {
namespace {

struct CoshOp {
  using Fn = CoshFn;
  static Fn make(const Attributes&) { return {}; }
  /// cosh grows with |x|, so the widest move is towards larger |x|.
  static double spread(const Fn& fn, double x, double r) {
    const double low = evaluate(fn, std::fabs(x));
    const double high = evaluate(fn, std::fabs(x) + r);
    return (high - low) * (1.0 + 0x1p-40) + high * (2 * f64_error(fn) + 0x1p-52);
  }
};

const RegisterOp registered{function_op<CoshOp>("Cosh", 9)};

}  // namespace
}  // namespace assay::ops::cosh_op
