#include "runtime/ops/support/qlinear.h"

#include "runtime/numeric/int_gemm.h"

namespace assay::ops {
namespace {

void check_scale(double s, std::size_t input) {
  if (std::isfinite(s) && s > 0) return;
  throw Error({.what = "scale must be positive and finite",
               .where = "input " + std::to_string(input),
               .got = std::to_string(s)});
}

/// Shapes of a matrix product with one-dimensional operands made matrices.
struct MatrixShapes {
  Shape a, b, batch, out;
  std::int64_t m = 0, n = 0, k = 0;
};

MatrixShapes matrix_shapes(Shape a, Shape b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (a.rank() == 0 || b.rank() == 0)
    throw Error({.what = "operand of a matrix product is a scalar"});
  if (row) a = Shape{1, a[0]};
  if (column) b = Shape{b[0], 1};
  MatrixShapes s{.a = a, .b = b, .batch = {}, .out = {}, .m = a[-2], .n = b[-1], .k = a[-1]};
  const auto lead = [](const Shape& x) {
    return Shape(std::vector<std::int64_t>(x.dims().begin(), x.dims().end() - 2));
  };
  const auto batch = broadcast(lead(a), lead(b));
  if (!batch || b[-2] != s.k) {
    throw Error({.what = "shapes of a matrix product do not fit",
                 .got = to_string(a) + " and " + to_string(b)});
  }
  s.batch = *batch;
  auto dims = batch->vec();
  if (!row) dims.push_back(s.m);
  if (!column) dims.push_back(s.n);
  s.out = Shape(dims);
  return s;
}

Codes8 codes_at(const Tensor& t, std::int64_t offset, const std::vector<std::int32_t>& zero) {
  return {t.raw().data() + offset, t.dtype() == DType::int8, zero};
}

}  // namespace

Affine read_affine(const EvalContext& c, std::size_t scale, std::size_t zero_point) {
  if (c.input(scale).numel() != 1) {
    throw Error({.what = "scale is not one number",
                 .where = "input " + std::to_string(scale),
                 .got = describe(c.input(scale))});
  }
  Affine p{to_doubles(c.input(scale))[0], 0};
  check_scale(p.scale, scale);
  if (c.has_input(zero_point)) p.zero_point = to_ints(c.input(zero_point)).at(0);
  return p;
}

ChannelAffine read_channel_affine(const EvalContext& c, std::size_t scale, std::size_t zero_point,
                                  std::int64_t channels) {
  ChannelAffine p{to_doubles(c.input(scale)), {}};
  p.zero_points =
      c.has_input(zero_point) ? to_ints(c.input(zero_point)) : std::vector<std::int64_t>{0};
  for (const double s : p.scales) check_scale(s, scale);
  const auto fits = [&](std::size_t n) {
    return n == 1 || static_cast<std::int64_t>(n) == channels;
  };
  if (!fits(p.scales.size()) || !fits(p.zero_points.size())) {
    throw Error(
        {.what = "number of scales or zero points does not fit",
         .where = "input " + std::to_string(scale),
         .got = std::to_string(p.scales.size()) + " and " + std::to_string(p.zero_points.size()),
         .expected = "1 or " + std::to_string(channels)});
  }
  return p;
}

DType code_type_of(const InferContext& c, std::size_t zero_point, DType missing) {
  return c.has_input(zero_point) ? c.input(zero_point).dtype : missing;
}

Tensor to_float(const Tensor& codes, const Affine& p) {
  Tensor x(DType::float32, codes.shape());
  const auto q = to_ints(codes);
  for (std::size_t i = 0; i < q.size(); ++i) {
    x.mutable_data<float>()[i] = dequantize_value(q[i], p.zero_point, static_cast<float>(p.scale));
  }
  return x;
}

Tensor to_codes(const Tensor& x, const Affine& p, DType type) {
  const auto v = x.data<float>();
  const CodeRange range = code_range(type);
  return fill_codes(type, x.shape(), [&](std::size_t i) {
    return quantize_value(v[i], p.scale, p.zero_point, range);
  });
}

Tensor int_matmul(const IntMatrices& m) {
  const MatrixShapes s = matrix_shapes(m.a.shape(), m.b.shape());
  Tensor out(DType::int32, s.out);
  const auto a_strides = broadcast_strides(
      Shape(std::vector<std::int64_t>(s.a.dims().begin(), s.a.dims().end() - 2)), s.batch);
  const auto b_strides = broadcast_strides(
      Shape(std::vector<std::int64_t>(s.b.dims().begin(), s.b.dims().end() - 2)), s.batch);
  const auto batch_strides = s.batch.strides();
  for (std::int64_t i = 0; i < s.batch.numel(); ++i) {
    std::int64_t a = 0, b = 0;
    for (std::int64_t axis = 0; axis < s.batch.rank(); ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      const std::int64_t at = i / batch_strides[k] % s.batch[axis];
      a += at * a_strides[k];
      b += at * b_strides[k];
    }
    int_gemm({.m = s.m,
              .n = s.n,
              .k = s.k,
              .a = codes_at(m.a, a * s.m * s.k, m.a_zero),
              .lda = 0,
              .b = codes_at(m.b, b * s.k * s.n, m.b_zero),
              .ldb = 0,
              .trans_b = false,
              .out = out.mutable_data<std::int32_t>().data() + i * s.m * s.n});
  }
  return out;
}

void infer_int_matmul(InferContext& c, std::size_t a, std::size_t b, DType type) {
  const TensorType &x = c.input(a), &y = c.input(b);
  if (x.known() && y.known()) return c.set_output(0, type, matrix_shapes(x.shape(), y.shape()).out);
  c.set_output(0, {type, std::nullopt});
}

}  // namespace assay::ops
