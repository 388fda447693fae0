// Cos (7): y = cos x. Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::cos_op {
namespace {

struct CosOp {
  using Fn = CosFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<CosOp>("Cos", 7)};

}  // namespace
}  // namespace assay::ops::cos_op
