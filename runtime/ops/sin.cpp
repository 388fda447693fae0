// Sin (7): y = sin x. Slope at most 1.
#include "runtime/ops/support/function_op.h"

namespace assay::ops::sin_op {
namespace {

struct SinOp {
  using Fn = SinFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.0, r); }
};

const RegisterOp registered{function_op<SinOp>("Sin", 7)};

}  // namespace
}  // namespace assay::ops::sin_op
