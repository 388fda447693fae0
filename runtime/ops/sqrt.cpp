// Sqrt (1, 6, 13): y = sqrt x; a negative x gives NaN, sqrt(-0) = -0.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::sqrt_op {
namespace {

struct SqrtOp {
  using Fn = SqrtFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<SqrtOp>("Sqrt", 1)};

}  // namespace
}  // namespace assay::ops::sqrt_op
