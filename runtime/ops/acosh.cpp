// Acosh (9): y = log(x + sqrt(x^2 - 1)); NaN below 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::acosh_op {
namespace {

struct AcoshOp {
  using Fn = AcoshFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<AcoshOp>("Acosh", 9)};

}  // namespace
}  // namespace assay::ops::acosh_op
