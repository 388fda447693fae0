// Erf (9, 13): y = 2/sqrt(pi) * integral of e^(-t^2) from 0 to x. Slope at most 2/sqrt(pi).
#include "runtime/ops/support/function_op.h"

namespace assay::ops::erf_op {
namespace {

struct ErfOp {
  using Fn = ErfFn;
  static Fn make(const Attributes&) { return {}; }
  static double spread(const Fn&, double, double r) { return lipschitz(1.1283791670955128, r); }
};

const RegisterOp registered{function_op<ErfOp>("Erf", 9)};

}  // namespace
}  // namespace assay::ops::erf_op
