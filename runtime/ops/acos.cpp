// Acos (7): y = arccos x; NaN outside [-1, 1].
#include "runtime/ops/support/function_op.h"

namespace assay::ops::acos_op {
namespace {

struct AcosOp {
  using Fn = AcosFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<AcosOp>("Acos", 7)};

}  // namespace
}  // namespace assay::ops::acos_op
