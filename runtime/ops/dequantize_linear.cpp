// DequantizeLinear: y = (x - x_zero_point) * x_scale, rounded once to the type of the scale.
//
// The difference is taken in wide integers (uint8 3 with zero point 5 is -2). One scale per tensor,
// per entry of `axis`, or per block of `block_size` along it. Codes: 8 and 16 bits, and int32.
#include "runtime/numeric/quantize.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/quantize_axis.h"

namespace assay::dequantize_linear_op {
namespace {

DType value_type(const InferContext& c) {
  const auto stated = static_cast<DType>(c.attributes().int_or("output_dtype", 0));
  return stated == DType::undefined ? c.input(1).dtype : c.widen(stated);
}

void infer(InferContext& c) {
  if (c.input(0).dtype != DType::undefined) code_range(c.input(0).dtype);
  c.set_output(0, {value_type(c), c.input(0).dims});
}

template <class T>
T scaled(double difference, double scale) {
  return static_cast<T>(product_to_odd(difference, scale));
}
template <>
double scaled<double>(double difference, double scale) {
  return difference * scale;
}
template <>
dd scaled<dd>(double difference, double scale) {
  return dd(difference) * dd(scale);
}

template <class X, class Y>
void dequantize(EvalContext& c) {
  const auto x = c.in<X>(0);
  const auto y = c.out<Y>(0);
  const auto scales = to_doubles(c.input(1));
  const Tensor zero = c.has_input(2) ? c.input(2) : Tensor();
  const auto zeros = zero_points(zero, c.input(1));
  const ScaleLayout layout(c.input(0).shape(), c.input(1).shape(), c.attributes().int_or("axis", 1),
                           c.attributes().int_or("block_size", 0));
  layout.for_each_run([&](std::int64_t first, std::int64_t last, std::int64_t k) {
    const double scale = scales[static_cast<std::size_t>(k)];
    const std::int64_t zp = zeros[static_cast<std::size_t>(k)];
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      y[i] = scaled<Y>(static_cast<double>(static_cast<std::int64_t>(x[i]) - zp), scale);
    }
  });
}

template <class X>
void dequantize_from(EvalContext& c) {
  switch (c.output(0).dtype()) {
    case DType::float32:
      return dequantize<X, float>(c);
    case DType::float64:
      return dequantize<X, double>(c);
    case DType::dd:
      return dequantize<X, dd>(c);
    case DType::float16:
      return dequantize<X, Half>(c);
    case DType::bfloat16:
      return dequantize<X, BFloat16>(c);
    default:
      throw Error({.what = "unsupported type of the scale",
                   .got = to_string(c.output(0).dtype()),
                   .kind = ErrorKind::unsupported});
  }
}

void eval(EvalContext& c) {
  switch (c.input(0).dtype()) {
    case DType::uint8:
      return dequantize_from<std::uint8_t>(c);
    case DType::int8:
      return dequantize_from<std::int8_t>(c);
    case DType::uint16:
      return dequantize_from<std::uint16_t>(c);
    case DType::int16:
      return dequantize_from<std::int16_t>(c);
    case DType::int32:
      return dequantize_from<std::int32_t>(c);
    default:
      throw Error({.what = "unsupported type of codes",
                   .got = to_string(c.input(0).dtype()),
                   .kind = ErrorKind::unsupported});
  }
}

/// The radius of the codes times the scale, and one rounding.
void bound(BoundContext& c) {
  const ops::Radius r(c, 0);
  const auto y = to_doubles(c.outputs[0]);
  const auto scales = to_doubles(c.inputs[1]);
  const ScaleLayout layout(c.inputs[0].shape(), c.inputs[1].shape(),
                           c.node->attributes.int_or("axis", 1),
                           c.node->attributes.int_or("block_size", 0));
  auto out = ops::new_radius(c);
  layout.for_each_run([&](std::int64_t first, std::int64_t last, std::int64_t k) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out[at] =
          ops::outward(r[i] * scales[static_cast<std::size_t>(k)] + ops::own_error(c, y[at], 1));
    }
  });
}

const RegisterOp registered{
    {.type = "DequantizeLinear", .since = 10, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::dequantize_linear_op
