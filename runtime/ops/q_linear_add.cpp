// QLinearAdd (com.microsoft): y = clamp(rhe(((a - z_a) * a_scale + (b - z_b) * b_scale) / y_scale)
// + z_y), with broadcasting.
//
// The value is real and rounded once: no constant part is prepared in float32 beforehand, which is
// what moves results by one code.
#include "runtime/ops/support/qlinear.h"

namespace assay::ops::q_linear_add_op {
namespace {

void infer(InferContext& c) {
  const DType type = code_type_of(c, 7, c.input(0).dtype);
  if (!c.input(0).known() || !c.input(3).known()) return c.set_output(0, {type, std::nullopt});
  const auto shape = broadcast(c.input(0).shape(), c.input(3).shape());
  if (!shape) throw Error({.what = "shapes do not broadcast"});
  c.set_output(0, type, *shape);
}

std::size_t offset(std::size_t i, const Shape& y, const std::vector<std::int64_t>& strides) {
  std::int64_t rest = static_cast<std::int64_t>(i), at = 0;
  for (std::int64_t axis = y.rank(); axis-- > 0;) {
    at += rest % y[axis] * strides[static_cast<std::size_t>(axis)];
    rest /= y[axis];
  }
  return static_cast<std::size_t>(at);
}

void eval(EvalContext& c) {
  const Affine a = read_affine(c, 1, 2), b = read_affine(c, 4, 5), y = read_affine(c, 6, 7);
  const auto shape = broadcast(c.input(0).shape(), c.input(3).shape());
  const auto left = broadcast_strides(c.input(0).shape(), *shape),
             right = broadcast_strides(c.input(3).shape(), *shape);
  const auto x = to_ints(c.input(0)), w = to_ints(c.input(3));
  const DType type = c.has_input(7) ? c.input(7).dtype() : c.input(0).dtype();
  c.outputs[0] = fill_codes(type, *shape, [&](std::size_t i) {
    const auto p = static_cast<double>(x[offset(i, *shape, left)] - a.zero_point);
    const auto q = static_cast<double>(w[offset(i, *shape, right)] - b.zero_point);
    const dd value = (dd(p) * dd(a.scale) + dd(q) * dd(b.scale)) / dd(y.scale);
    return code_of(value, y.zero_point, code_range(type));
  });
}

const RegisterOp registered{
    {.type = "QLinearAdd", .domain = "com.microsoft", .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_linear_add_op
