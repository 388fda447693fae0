// Softsign (1): y = x / (1 + |x|). Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::softsign_op {
namespace {

struct SoftsignOp {
  using Fn = SoftsignFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<SoftsignOp>("Softsign", 1)};

}  // namespace
}  // namespace assay::ops::softsign_op
