// Asinh (9): y = log(x + sqrt(x^2 + 1)). Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::asinh_op {
namespace {

struct AsinhOp {
  using Fn = AsinhFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<AsinhOp>("Asinh", 9)};

}  // namespace
}  // namespace assay::ops::asinh_op
