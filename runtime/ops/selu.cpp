// Selu (1, 6): y = gamma (x > 0 ? x : alpha (e^x - 1)).
//
// Defaults: alpha 1.6732, gamma 1.0507 at opset
// 1; 1.67326319217681884765625, 1.05070102214813232421875 from opset 6 on. Slope at most |gamma|
// max(1, |alpha|).
#include "runtime/ops/support/function_op.h"

namespace assay::ops::selu_op {
namespace {

template <int Opset>
struct SeluOp {
  using Fn = SeluFn;
  static Fn make(const Attributes& attributes) {
    return {attributes.float_or("alpha", Opset < 6 ? 1.6732F : 1.67326319217681884765625F),
            attributes.float_or("gamma", Opset < 6 ? 1.0507F : 1.05070102214813232421875F)};
  }
  static double spread(const Fn& fn, double, double r) {
    const double slope = std::fabs(double{fn.gamma}) * std::max(1.0, std::fabs(double{fn.alpha}));
    return lipschitz(slope, r);
  }
};

const RegisterOp registered{
    std::vector<OpDef>{function_op<SeluOp<1>>("Selu", 1), function_op<SeluOp<6>>("Selu", 6)}};

}  // namespace
}  // namespace assay::ops::selu_op
