// QConcat: joins tensors of codes along `axis`, each rescaled to the output's scale and zero point.
//
// A tensor that has the output's own scale, zero point and type is copied. Any other is dequantized
// and quantized again: float32 value, then the profile's output step. Attributes: x_scales,
// x_zero_points (one per input), y_scale, y_zero_point, y_dtype, axis.
#include <cstring>

#include "quant/finish.h"

namespace assay::q_concat_op {
namespace {

void infer(InferContext& c) {
  const DType y = integer_output_type(c);
  if (!c.input(0).dims) return c.set_output(0, {y, std::nullopt});
  auto dims = *c.input(0).dims;
  const auto axis = static_cast<std::size_t>(
      normalize_axis(c.attributes().required_int("axis"), static_cast<std::int64_t>(dims.size())));
  for (std::size_t i = 1; i < c.input_count(); ++i) {
    if (!c.input(i).dims) return c.set_output(0, {y, std::nullopt});
    const auto& own = *c.input(i).dims;
    if (own.size() != dims.size()) throw Error({.what = "operands of Concat differ in rank"});
    dims[axis] = dims[axis] < 0 || own[axis] < 0 ? -1 : dims[axis] + own[axis];
  }
  c.set_output(0, {y, dims});
}

Tensor rescaled(const Tensor& codes, const QuantParams& from, const IntegerForm& form) {
  if (from == form.y) return codes;
  return finish(form, dequantize_codes(codes, from), Tensor(), nullptr);
}

void copy_rows(const Tensor& part, std::int64_t axis, std::int64_t at, Tensor& out) {
  const std::int64_t inner = out.shape().numel(axis + 1, out.shape().rank()) * size_of(out.dtype());
  const std::int64_t rows = part.shape().numel(0, axis);
  const std::int64_t chunk = part.shape()[axis] * inner, stride = out.shape()[axis] * inner;
  for (std::int64_t r = 0; r < rows && chunk > 0; ++r) {
    std::memcpy(out.mutable_raw().data() + r * stride + at * inner, part.raw().data() + r * chunk,
                static_cast<std::size_t>(chunk));
  }
}

void eval(EvalContext& c) {
  const Attributes& a = c.attributes();
  const auto scales = a.floats_or("x_scales", {});
  const auto zeros = a.ints_or("x_zero_points", {});
  if (scales.size() != c.inputs.size() || zeros.size() != c.inputs.size()) {
    throw Error({.what = "x_scales and x_zero_points do not name every input",
                 .got = std::to_string(scales.size())});
  }
  const IntegerForm form{.y = read_params(a, "y", static_cast<DType>(a.int_or("y_dtype", 2))),
                         .profile = node_profile(a)};
  const std::int64_t axis = normalize_axis(a.required_int("axis"), c.input(0).shape().rank());
  Shape shape = c.input(0).shape();
  for (std::size_t i = 1; i < c.inputs.size(); ++i) shape[axis] += c.input(i).shape()[axis];
  Tensor out(form.y.dtype, shape);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor part = rescaled(c.input(i), {c.input(i).dtype(), scales[i], zeros[i]}, form);
    copy_rows(part, axis, at, out);
    at += part.shape()[axis];
  }
  store_result(c, out);
}

const RegisterOp registered{
    {.type = "QConcat", .domain = assay_domain, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::q_concat_op
