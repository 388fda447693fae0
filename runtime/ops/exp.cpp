// Exp (1, 6, 13): y = e^x.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::exp_op {
namespace {

struct ExpOp {
  using Fn = ExpFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<ExpOp>("Exp", 1)};

}  // namespace
}  // namespace assay::ops::exp_op
