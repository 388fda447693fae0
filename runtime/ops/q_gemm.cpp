// QGemm (com.microsoft): y = alpha * a_scale * b_scale * ((a - z_a)(b - z_b) + c), quantized when
// y_scale is given, else float32.
//
//   inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, c (int32, scale alpha * a_scale *
//   b_scale), y_scale, y_zero_point
// b has one scale and zero point or one per column. The value is real and rounded once. transA and
// transB as in Gemm.
#include "runtime/ops/support/qlinear.h"

namespace assay::ops::q_gemm_op {
namespace {

Tensor transposed(const Tensor& t, bool wanted) {
  if (!wanted) return t;
  const std::int64_t rows = t.shape()[0], columns = t.shape()[1];
  Tensor out(t.dtype(), {columns, rows});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out.mutable_raw()[static_cast<std::size_t>(j * rows + i)] =
          t.raw()[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return out;
}

void infer(InferContext& c) {
  const DType type =
      c.has_input(7) ? code_type_of(c, 8, c.input(0).dtype) : c.widen(DType::float32);
  const TensorType &a = c.input(0), &b = c.input(3);
  if (!a.dims || !b.dims || a.dims->size() != 2 || b.dims->size() != 2)
    return c.set_output(0, {type, std::nullopt});
  const bool ta = c.attributes().int_or("transA", 0) != 0,
             tb = c.attributes().int_or("transB", 0) != 0;
  c.set_output(0, {type, std::vector<std::int64_t>{(*a.dims)[ta ? 1 : 0], (*b.dims)[tb ? 0 : 1]}});
}

/// int32 addend broadcast to [m, n], read by element.
struct IntAddend {
  std::vector<std::int64_t> values;
  std::int64_t row = 0, column = 0;
  std::int64_t at(std::int64_t i, std::int64_t j) const {
    return values.empty() ? 0 : values[static_cast<std::size_t>(i * row + j * column)];
  }
};

IntAddend read_addend(const EvalContext& c, const Shape& y) {
  if (!c.has_input(6)) return {};
  const auto strides = broadcast_strides(c.input(6).shape(), y);
  return {to_ints(c.input(6)), strides[0], strides[1]};
}

void eval(EvalContext& c) {
  const Attributes& attributes = c.attributes();
  const Affine a = read_affine(c, 1, 2);
  const Tensor left = transposed(c.input(0), attributes.int_or("transA", 0) != 0);
  const Tensor right = transposed(c.input(3), attributes.int_or("transB", 0) != 0);
  const std::int64_t columns = right.shape()[1];
  const ChannelAffine b = read_channel_affine(c, 4, 5, columns);
  const std::vector<std::int32_t> b_zero(b.zero_points.begin(), b.zero_points.end());
  const Tensor sums = int_matmul({.a = left,
                                  .b = right,
                                  .a_zero = {static_cast<std::int32_t>(a.zero_point)},
                                  .b_zero = b_zero});
  const auto acc = sums.data<std::int32_t>();
  const IntAddend addend = read_addend(c, sums.shape());
  const dd alpha(static_cast<double>(attributes.float_or("alpha", 1)));
  const auto value = [&](std::size_t i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / columns,
                       column = static_cast<std::int64_t>(i) % columns;
    return dd(static_cast<double>(acc[i] + addend.at(row, column))) *
           dd(a.scale * b.scale(column)) * alpha;
  };
  if (c.has_input(7)) {
    const Affine y = read_affine(c, 7, 8);
    const DType type = c.has_input(8) ? c.input(8).dtype() : c.input(0).dtype();
    c.outputs[0] = fill_codes(type, sums.shape(), [&](std::size_t i) {
      return code_of(value(i) / dd(y.scale), y.zero_point, code_range(type));
    });
    return;
  }
  Tensor y(DType::float32, sums.shape());
  // The high word is the value rounded to float64; a second rounding matters only at float32
  // midpoints, where the low word decides.
  for (std::size_t i = 0; i < acc.size(); ++i) {
    const dd v = value(i);
    const double odd = dd_lo(v) == 0 || (std::bit_cast<std::uint64_t>(dd_hi(v)) & 1) != 0
                           ? dd_hi(v)
                           : std::nextafter(dd_hi(v), dd_lo(v) > 0 ? HUGE_VAL : -HUGE_VAL);
    y.mutable_data<float>()[i] = static_cast<float>(odd);
  }
  c.outputs[0] = convert(y, c.widen(DType::float32));
}

const RegisterOp registered{
    {.type = "QGemm", .domain = "com.microsoft", .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_gemm_op
