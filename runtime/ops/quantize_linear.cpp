// QuantizeLinear: y = clamp(rhe(x / y_scale) + y_zero_point).
//
// The quotient counts as a real number: it is not rounded to float32 first (docs: 18 % of the codes
// of decimal data differ between the two readings). rhe: to nearest, halves to even. The zero point
// is added after rounding, in wide integers. Infinities and huge values saturate; NaN becomes the
// zero point and is counted (integer_stats.h). One scale per tensor, per entry of `axis`, or per
// block of `block_size` along it. Codes: uint8, int8, uint16, int16 (others are not stored).
#include "runtime/integer_stats.h"
#include "runtime/numeric/quantize.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/quantize_axis.h"

namespace assay::quantize_linear_op {
namespace {

using ops::new_radius;
using ops::outward;
using ops::Radius;

DType code_type(const InferContext& c) {
  if (c.has_input(2) && c.input(2).dtype != DType::undefined) return c.input(2).dtype;
  const auto stated = static_cast<DType>(c.attributes().int_or("output_dtype", 0));
  return stated == DType::undefined ? DType::uint8 : stated;
}

void infer(InferContext& c) {
  const DType code = code_type(c);
  code_range(code);
  c.set_output(0, {code, c.input(0).dims});
}

void check_scales(const std::vector<double>& scales) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (std::isfinite(scales[i]) && scales[i] > 0) continue;
    throw Error({.what = "quantization scale must be positive and finite",
                 .where = "y_scale[" + std::to_string(i) + "]",
                 .got = std::to_string(scales[i])});
  }
}

double widen_element(const dd& v) { return dd_hi(v); }
template <class T>
double widen_element(const T& v) {
  return static_cast<double>(v);
}

template <class X, class Y>
void quantize(EvalContext& c) {
  const auto x = c.in<X>(0);
  const auto y = c.out<Y>(0);
  const auto scales = to_doubles(c.input(1));
  check_scales(scales);
  const Tensor zero = c.has_input(2) ? c.input(2) : Tensor();
  const auto zeros = zero_points(zero, c.input(1));
  const CodeRange range = code_range(dtype_of<Y>);
  const ScaleLayout layout(c.input(0).shape(), c.input(1).shape(), c.attributes().int_or("axis", 1),
                           c.attributes().int_or("block_size", 0));
  IntegerCounts counts;
  IntegerStats* stats = integer_stats();
  layout.for_each_run([&](std::int64_t first, std::int64_t last, std::int64_t k) {
    const double scale = scales[static_cast<std::size_t>(k)];
    const std::int64_t zp = zeros[static_cast<std::size_t>(k)];
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const double v = widen_element(x[i]) / scale;
      y[i] = static_cast<Y>(code_of(v, zp, range));
      if (stats != nullptr) count_rounding(v, zp, range, counts);
    }
  });
  if (stats != nullptr) stats->add(*c.node, counts);
}

template <class X>
void quantize_to(EvalContext& c) {
  switch (c.output(0).dtype()) {
    case DType::uint8:
      return quantize<X, std::uint8_t>(c);
    case DType::int8:
      return quantize<X, std::int8_t>(c);
    case DType::uint16:
      return quantize<X, std::uint16_t>(c);
    case DType::int16:
      return quantize<X, std::int16_t>(c);
    default:
      throw Error({.what = "unsupported type of codes",
                   .got = to_string(c.output(0).dtype()),
                   .expected = "uint8, int8, uint16 or int16",
                   .kind = ErrorKind::unsupported});
  }
}

void eval(EvalContext& c) {
  switch (c.input(0).dtype()) {
    case DType::float32:
      return quantize_to<float>(c);
    case DType::float64:
      return quantize_to<double>(c);
    case DType::dd:
      return quantize_to<dd>(c);
    case DType::float16:
      return quantize_to<Half>(c);
    case DType::bfloat16:
      return quantize_to<BFloat16>(c);
    case DType::int32:
      return quantize_to<std::int32_t>(c);
    default:
      throw Error({.what = "unsupported element type",
                   .got = to_string(c.input(0).dtype()),
                   .kind = ErrorKind::unsupported});
  }
}

/// Codes are monotone in x: the radius is how many codes lie between those of x - r and x + r. An
/// exact x has an exact code.
void bound(BoundContext& c) {
  const Radius r(c, 0);
  const auto x = to_doubles(c.inputs[0]);
  const auto scales = to_doubles(c.inputs[1]);
  const auto zeros = zero_points(c.inputs.size() > 2 ? c.inputs[2] : Tensor(), c.inputs[1]);
  const CodeRange range = code_range(c.outputs[0].dtype());
  const ScaleLayout layout(c.inputs[0].shape(), c.inputs[1].shape(),
                           c.node->attributes.int_or("axis", 1),
                           c.node->attributes.int_or("block_size", 0));
  auto out = new_radius(c);
  if (r.exact()) return;
  layout.for_each_run([&](std::int64_t first, std::int64_t last, std::int64_t k) {
    const double scale = scales[static_cast<std::size_t>(k)];
    const std::int64_t zp = zeros[static_cast<std::size_t>(k)];
    for (std::int64_t i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double reach = r[i] == 0 ? 0.0 : outward(r[i]) + 0x1p-50 * std::fabs(x[at]);
      const auto code = [&](double v) {
        return static_cast<double>(code_of(v / scale, zp, range));
      };
      const double here = code(x[at]);
      out[at] = std::max(code(x[at] + reach) - here, here - code(x[at] - reach));
    }
  });
}

const RegisterOp registered{
    {.type = "QuantizeLinear", .since = 10, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::quantize_linear_op
