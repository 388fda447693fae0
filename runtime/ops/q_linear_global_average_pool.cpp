// QLinearGlobalAveragePool (com.microsoft): y = quantize(GlobalAveragePool(dequantize(x))).
//
// The float operator runs correctly rounded on the dequantized codes; its result is quantized with
// the real quotient. channels_last = 1 is refused.
#include "runtime/ops/support/qlinear.h"
#include "runtime/ops/support/run_op.h"

namespace assay::ops::q_linear_global_average_pool_op {
namespace {

Attributes float_attributes(const Attributes& own) {
  Attributes a = own;
  a.erase("channels_last");
  return a;
}

void check(const Attributes& a) {
  if (a.int_or("channels_last", 0) == 0) return;
  throw Error({.what = "channels_last is not supported", .kind = ErrorKind::unsupported});
}

void infer(InferContext& c) {
  check(c.attributes());
  const TensorType x{DType::float32, c.input(0).dims};
  c.set_output(0,
               {c.input(0).dtype,
                infer_standard("GlobalAveragePool", float_attributes(c.attributes()), {x}).dims});
}

void eval(EvalContext& c) {
  const Tensor x = to_float(c.input(0), read_affine(c, 1, 2));
  const Tensor y = run_standard("GlobalAveragePool", float_attributes(c.attributes()), {x});
  c.outputs[0] = to_codes(y, read_affine(c, 3, 4), c.input(0).dtype());
}

const RegisterOp registered{
    {.type = "QLinearGlobalAveragePool", .domain = "com.microsoft", .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_linear_global_average_pool_op
