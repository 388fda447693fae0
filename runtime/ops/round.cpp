// Round (11): x to the nearest integer, halves to the even one. The sign of zero is kept.
//
// The function jumps at half-integers: the radius is the widest move over the interval.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::round_op {
namespace {

struct RoundOp {
  using Fn = RoundFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) {
    const double low = evaluate(fn, x - r);
    const double high = evaluate(fn, x + r);
    const double mid = evaluate(fn, x);
    return std::max(mid - low, high - mid);
  }
};

const RegisterOp registered{function_op<RoundOp>("Round", 11)};

}  // namespace
}  // namespace assay::ops::round_op
