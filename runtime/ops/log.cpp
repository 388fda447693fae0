// Log (1, 6, 13): y = log x; log(+-0) = -inf, a negative x gives NaN.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::log_op {
namespace {

struct LogOp {
  using Fn = LogFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<LogOp>("Log", 1)};

}  // namespace
}  // namespace assay::ops::log_op
