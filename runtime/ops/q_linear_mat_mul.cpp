// QLinearMatMul: y = clamp(rhe(((a - z_a)(b - z_b)) * a_scale * b_scale / y_scale) + z_y).
//
// a has one scale and zero point or one per row, b one or one per column. The scaled value is real
// and rounded once.
#include "runtime/ops/support/qlinear.h"

namespace assay::ops::q_linear_mat_mul_op {
namespace {

void infer(InferContext& c) { infer_int_matmul(c, 0, 3, code_type_of(c, 7, DType::uint8)); }

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& wide) {
  return {wide.begin(), wide.end()};
}

void eval(EvalContext& c) {
  const Shape &as = c.input(0).shape(), &bs = c.input(3).shape();
  const std::int64_t rows = as.rank() < 2 ? 1 : as[-2], columns = bs.rank() < 2 ? 1 : bs[-1];
  const ChannelAffine a = read_channel_affine(c, 1, 2, rows),
                      b = read_channel_affine(c, 4, 5, columns);
  const Affine y = read_affine(c, 6, 7);
  const Tensor sums = int_matmul({.a = c.input(0),
                                  .b = c.input(3),
                                  .a_zero = narrow(a.zero_points),
                                  .b_zero = narrow(b.zero_points)});
  const auto acc = sums.data<std::int32_t>();
  const DType type = c.has_input(7) ? c.input(7).dtype() : DType::uint8;
  c.outputs[0] = fill_codes(type, sums.shape(), [&](std::size_t i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % columns,
                       row = static_cast<std::int64_t>(i) / columns % rows;
    const dd value =
        dd(static_cast<double>(acc[i])) * dd(a.scale(row) * b.scale(column)) / dd(y.scale);
    return code_of(value, y.zero_point, code_range(type));
  });
}

const RegisterOp registered{{.type = "QLinearMatMul", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_linear_mat_mul_op
