// Pow (1: broadcast attributes; 7, 12, 13, 15: numpy broadcasting): y = x ^ e, in the type of x.
//
// IEEE pow: x^0 = 1 and 1^e = 1 for every operand, a negative x needs an integer e. From opset 12
// on the exponent may be of another type; it counts at its exact value (64-bit integers beyond 2^53
// are rounded to double, where the result is 0, 1 or infinite anyway unless |x| is next to 1).
// float32 results are correctly rounded when both operands are float32. Integer x with an integer
// exponent wraps; a negative exponent gives the truncated real result.
#include "runtime/numeric/elementary.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/legacy_broadcast.h"

namespace assay::ops::pow_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  require_dtype(c, 1, number_type, "a number type");
  TensorType out{c.input(0).dtype, std::nullopt};
  const auto& a = c.input(0).dims;
  const auto& b = c.input(1).dims;
  if (a && b)
    out.dims = broadcast_dims(*a, c.opset >= 7 ? *b : legacy_operand(c.attributes(), *a, *b));
  c.set_output(0, out);
}

/// x^e for integers by squaring, modulo 2^64; e < 0 truncates 1 / x^|e|.
template <class T>
T integer_power(T x, std::int64_t e) {
  if (e < 0) {
    if (x == 0) throw Error({.what = "integer 0 to a negative power"});
    if (x == 1) return 1;
    if (std::is_signed_v<T> && x == static_cast<T>(-1)) return e % 2 == 0 ? T(1) : x;
    return 0;
  }
  std::uint64_t result = 1, base = static_cast<std::uint64_t>(x);
  for (; e != 0; e /= 2) {
    if (e % 2 != 0) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

template <class T>
void integer_base(EvalContext& c, const Tensor& e) {
  if (is_float(e.dtype())) {
    const Tensor wide = convert(e, DType::float64);
    map_binary<T, T, double>(c.input(0), wide, c.output(0), [](T x, double y) {
      // Truncated towards zero, saturating: a float exponent of an integer base is a real power.
      const Tensor real = convert(
          Tensor::scalar<double>(std::trunc(cr_pow(static_cast<double>(x), y))), dtype_of<T>);
      return real.data<T>()[0];
    });
    return;
  }
  const Tensor whole = convert(e, DType::int64);
  map_binary<T, T, std::int64_t>(c.input(0), whole, c.output(0),
                                 [](T x, std::int64_t y) { return integer_power(x, y); });
}

bool exact_as_float(DType t) {
  return t == DType::float32 || t == DType::float16 || t == DType::bfloat16 || t == DType::int8 ||
         t == DType::uint8 || t == DType::int16 || t == DType::uint16;
}

template <class T>
void narrow_or_float(EvalContext& c, const Tensor& e) {
  const Tensor x = convert(c.input(0), DType::float32);
  if (exact_as_float(e.dtype())) {
    const Tensor y = convert(e, DType::float32);
    map_binary<float, float, float>(x, y, c.output(0),
                                    [](float a, float b) { return cr_pow(a, b); });
    return;
  }
  // An exponent that float32 cannot hold: one more rounding, through float64.
  const Tensor y = convert(e, DType::float64);
  map_binary<float, float, double>(x, y, c.output(0), [](float a, double b) {
    return static_cast<float>(cr_pow(static_cast<double>(a), b));
  });
}

template <class T>
void half_base(EvalContext& c, const Tensor& e) {
  const Tensor y = convert(e, DType::float32);
  map_binary<T, T, float>(c.input(0), y, c.output(0), [](double a, float b) {
    return static_cast<double>(cr_pow_as<T>(static_cast<float>(a), b));
  });
}

void eval(EvalContext& c) {
  const Tensor e = second_operand(c);
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>)
      integer_base<T>(c, e);
    else if constexpr (is_narrow<T>)
      half_base<T>(c, e);
    else if constexpr (std::is_same_v<T, float>)
      narrow_or_float<T>(c, e);
    else {
      const Tensor y = convert(e, dtype_of<T>);
      const auto evaluate = [](const T& a, const T& b) { return evaluate_pow(a, b); };
      if constexpr (std::is_same_v<T, double>) {
        if (c.precision == Precision::cr)
          return map_binary<T, T, T>(c.input(0), y, c.output(0),
                                     [](double a, double b) { return cr_pow(a, b); });
      }
      map_binary<T, T, T>(c.input(0), y, c.output(0), evaluate);
    }
  });
}

const RegisterOp registered{{.type = "Pow", .since = 1, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::pow_op
