// Atan (7): y = arctan x. Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::atan_op {
namespace {

struct AtanOp {
  using Fn = AtanFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<AtanOp>("Atan", 7)};

}  // namespace
}  // namespace assay::ops::atan_op
