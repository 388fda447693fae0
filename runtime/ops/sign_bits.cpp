// Abs (1, 6, 13), Neg (1, 6, 13) and Sign (9, 13).
//
// Abs and Neg of floats change the sign bit only, of NaN too (copies keep their bits); of integers
// they wrap. Sign is -1, 0 or 1
// (+0 for either zero) and NaN for NaN.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::sign_bits_op {
namespace {

template <class T>
T flip(const T& v) {
  if constexpr (is_narrow<T>)
    return T::from_bits(static_cast<std::uint16_t>(v.bits ^ 0x8000U));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<std::uint64_t>(v));
  else
    return -v;
}

template <class T>
bool is_negative(const T& v) {
  if constexpr (std::is_integral_v<T>)
    return v < T(0);
  else
    return negative_bit(load<T>(v)) && !(not_a_number(load<T>(v)) && is_narrow<T>);
}

struct AbsFn {
  template <class T>
  static T apply(const T& v) {
    if constexpr (is_narrow<T>)
      return T::from_bits(static_cast<std::uint16_t>(v.bits & 0x7FFFU));
    else
      return is_negative(v) ? flip(v) : v;
  }
};

struct NegFn {
  template <class T>
  static T apply(const T& v) {
    return flip(v);
  }
};

struct SignFn {
  template <class T>
  static T apply(const T& v) {
    const Wide<T> w = load<T>(v), zero = Wide<T>(0.0F);
    if (not_a_number(w)) return store<T>(w);
    return T(w > zero ? 1.0F : w < zero ? -1.0F : 0.0F);
  }
};

template <class F>
void eval(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = c.in<T>(0);
    const auto y = c.out<T>(0);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = F::template apply<T>(x[i]);
  });
}

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_same(c);
}

void bound(BoundContext& c) { bound_lipschitz(c, 1.0, 0.0); }

/// Sign is constant away from 0 and moves by at most 2 where the interval reaches it.
void bound_sign(BoundContext& c) {
  const Radius r(c, 0);
  const auto x = c.inputs[0].data<double>();
  auto out = new_radius(c);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double radius = r[static_cast<std::int64_t>(i)];
    out[i] = radius > 0.0 && std::fabs(x[i]) <= radius ? 2.0 : 0.0;
  }
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Abs", .since = 1, .infer = infer, .eval = eval<AbsFn>, .bound = bound},
    {.type = "Neg", .since = 1, .infer = infer, .eval = eval<NegFn>, .bound = bound},
    {.type = "Sign", .since = 9, .infer = infer, .eval = eval<SignFn>, .bound = bound_sign}}};

}  // namespace
}  // namespace assay::ops::sign_bits_op
