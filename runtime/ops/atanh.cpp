// Atanh (9): y = log((1 + x) / (1 - x)) / 2; +-inf at +-1, NaN beyond.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::atanh_op {
namespace {

struct AtanhOp {
  using Fn = AtanhFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn& fn, double x, double r) { return monotone_spread(fn, x, r); }
};

const RegisterOp registered{function_op<AtanhOp>("Atanh", 9)};

}  // namespace
}  // namespace assay::ops::atanh_op
