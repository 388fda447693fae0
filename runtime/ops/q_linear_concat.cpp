// QLinearConcat (com.microsoft): joins tensors of codes along `axis`, each with its own scale and
// zero point.
//
//   inputs: y_scale, y_zero_point, then x, x_scale, x_zero_point for every tensor
//   y = clamp(rhe((x - z_x) * x_scale / y_scale) + z_y), the value real and rounded once
#include "runtime/ops/support/qlinear.h"
#include "runtime/ops/support/run_op.h"

namespace assay::ops::q_linear_concat_op {
namespace {

void infer(InferContext& c) {
  std::vector<TensorType> types;
  for (std::size_t i = 2; i < c.input_count(); i += 3)
    types.push_back({DType::float32, c.input(i).dims});
  c.set_output(0, {c.input(1).dtype, infer_standard("Concat", c.attributes(), types).dims});
}

void eval(EvalContext& c) {
  const Affine y = read_affine(c, 0, 1);
  const DType type = c.input(1).dtype();
  const CodeRange range = code_range(type);
  std::vector<Tensor> parts;
  for (std::size_t i = 2; i < c.inputs.size(); i += 3) {
    const Affine x = read_affine(c, i + 1, i + 2);
    const auto q = to_ints(c.input(i));
    parts.push_back(fill_codes(type, c.input(i).shape(), [&](std::size_t k) {
      const dd value = dd(static_cast<double>(q[k] - x.zero_point)) * dd(x.scale) / dd(y.scale);
      return code_of(value, y.zero_point, range);
    }));
  }
  c.outputs[0] = run_standard("Concat", c.attributes(), parts);
}

const RegisterOp registered{
    {.type = "QLinearConcat", .domain = "com.microsoft", .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_linear_concat_op
