// Asin (7): y = arcsin x; NaN outside [-1, 1].
#include "runtime/ops/support/function_op.h"

namespace assay::ops::asin_op {
namespace {

struct AsinOp {
  using Fn = AsinFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<AsinOp>("Asin", 7)};

}  // namespace
}  // namespace assay::ops::asin_op
