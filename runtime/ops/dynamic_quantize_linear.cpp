// DynamicQuantizeLinear: uint8 codes with the scale and zero point of the tensor's own range.
//
//   low = min(0, min x)   high = max(0, max x)   y_scale = (high - low) / 255
//   y_zero_point = clamp(rhe(-low / y_scale), 0, 255)   y = clamp(rhe(x / y_scale) + y_zero_point)
//
// y_scale is the real quotient rounded once to float32, the two other quotients are real ones. A
// tensor that is all zero (or empty) has scale 1; a scale that would round to 0 is the smallest
// positive float. NaN does not take part in the range and becomes the zero point.
#include "runtime/integer_stats.h"
#include "runtime/numeric/quantize.h"
#include "runtime/op.h"

namespace assay::dynamic_quantize_linear_op {
namespace {

constexpr CodeRange bytes{0, 255};

void infer(InferContext& c) {
  c.set_output(0, {DType::uint8, c.input(0).dims});
  c.set_output(1, {c.input(0).dtype, std::vector<std::int64_t>{}});
  c.set_output(2, {DType::uint8, std::vector<std::int64_t>{}});
}

/// (high - low) / 255 rounded to odd at 53 bits, so that the rounding to float32 is the only one.
double range_over_255(double low, double high) {
  const double range = high - low;
  const double back = range + low;
  const double lost = (high - back) - (low - (back - range));  // range + lost is exact (TwoSum)
  const double q = range / 255;
  const double rest = std::fma(-q, 255.0, range) + lost;
  if (rest == 0 || (std::bit_cast<std::uint64_t>(q) & 1) != 0) return q;
  return std::nextafter(q, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

template <class T>
T scale_of(double low, double high) {
  if (low == high) return T(1.0);
  const auto scale = static_cast<T>(range_over_255(low, high));
  return static_cast<double>(scale) > 0 ? scale : std::numeric_limits<T>::denorm_min();
}

template <class T>
void quantize(EvalContext& c) {
  const auto x = c.in<T>(0);
  double low = 0, high = 0;
  IntegerCounts counts{.elements = c.input(0).numel()};
  for (const T v : x) {
    counts.nan += std::isnan(v);
    low = v < low ? static_cast<double>(v) : low;
    high = v > high ? static_cast<double>(v) : high;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) {
    throw Error({.what = "the range of an infinite value cannot be quantized"});
  }
  const T scale = scale_of<T>(low, high);
  const std::int64_t zero = quantize_value(-low, static_cast<double>(scale), 0, bytes);
  const auto y = c.out<std::uint8_t>(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<std::uint8_t>(
        quantize_value(static_cast<double>(x[i]), static_cast<double>(scale), zero, bytes));
  }
  c.out<T>(1)[0] = scale;
  c.out<std::uint8_t>(2)[0] = static_cast<std::uint8_t>(zero);
  if (IntegerStats* stats = integer_stats()) stats->add(*c.node, counts);
}

void eval(EvalContext& c) {
  switch (c.input(0).dtype()) {
    case DType::float32:
      return quantize<float>(c);
    case DType::float64:
      return quantize<double>(c);
    default:
      throw Error({.what = "DynamicQuantizeLinear takes float32 (or runs in float64)",
                   .got = to_string(c.input(0).dtype()),
                   .kind = ErrorKind::unsupported});
  }
}

const RegisterOp registered{
    {.type = "DynamicQuantizeLinear", .since = 11, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::dynamic_quantize_linear_op
