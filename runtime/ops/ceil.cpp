// Ceil (1, 6, 13): the smallest integer not below x. The sign of zero is kept.
//
// The function jumps at integers: the radius is the widest move over the interval.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::ceil_op {
namespace {

struct CeilOp {
  using Fn = CeilFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) {
    const double low = evaluate(fn, x - r);
    const double high = evaluate(fn, x + r);
    const double mid = evaluate(fn, x);
    return std::max(mid - low, high - mid);
  }
};

const RegisterOp registered{function_op<CeilOp>("Ceil", 1)};

}  // namespace
}  // namespace assay::ops::ceil_op
