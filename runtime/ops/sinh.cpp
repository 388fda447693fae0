// Sinh (9): y = (e^x - e^-x) / 2.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::sinh_op {
namespace {

struct SinhOp {
  using Fn = SinhFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<SinhOp>("Sinh", 9)};

}  // namespace
}  // namespace assay::ops::sinh_op
