// Range (11): y_i = start + i * delta for i in [0, n), n = max(0, ceil((limit - start) / delta)).
//
// n is computed in double (integers: exactly). Every element is rounded once from the exact value;
// none is a sum of the ones before it.
#include <cmath>

#include "runtime/ops/support/movement.h"

namespace assay::ops::range_op {
namespace {

std::int64_t float_count(double start, double limit, double delta) {
  const double n = std::ceil((limit - start) / delta);
  if (!(delta != 0.0) || std::isnan(n) || n >= 0x1p62) {
    throw Error({.what = "range without an end",
                 .got = "start " + std::to_string(start) + ", limit " + std::to_string(limit) +
                        ", delta " + std::to_string(delta)});
  }
  return n < 0.0 ? 0 : static_cast<std::int64_t>(n);
}

std::int64_t int_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) throw Error({.what = "range with a delta of 0"});
  if (start == limit || (limit > start) != (delta > 0)) return 0;
  // Unsigned differences cannot overflow.
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit);
  const std::uint64_t span = delta > 0 ? to - from : from - to;
  const auto raw = static_cast<std::uint64_t>(delta);
  const std::uint64_t n = (span - 1) / (delta > 0 ? raw : 0 - raw) + 1;
  if (n > static_cast<std::uint64_t>(INT64_MAX))
    throw Error({.what = "range with more than 2^63 elements"});
  return static_cast<std::int64_t>(n);
}

std::int64_t count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  for (const Tensor* t : {&start, &limit, &delta})
    if (t->numel() != 1)
      throw Error({.what = "range from a tensor that is not a scalar", .got = describe(*t)});
  if (is_integer(start.dtype()))
    return int_count(to_ints(start)[0], to_ints(limit)[0], to_ints(delta)[0]);
  return float_count(to_doubles(start)[0], to_doubles(limit)[0], to_doubles(delta)[0]);
}

void infer(InferContext& c) {
  const DType dtype = c.input(0).dtype;
  if (c.input(1).dtype != dtype || c.input(2).dtype != dtype)
    throw Error({.what = "start, limit and delta differ in type"});
  if (!c.constant(0) || !c.constant(1) || !c.constant(2))
    return c.set_output(0, {dtype, std::vector<std::int64_t>{-1}});
  c.set_output(0, dtype, {count_of(*c.constant(0), *c.constant(1), *c.constant(2))});
}

/// a + b rounded to odd, so that one more rounding to float32 is the only one.
double sum_to_odd(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  const double rest = (a - (s - t)) + (b - t);
  if (rest == 0.0 || !std::isfinite(s)) return s;
  if ((std::bit_cast<std::uint64_t>(s) & 1U) != 0) return s;
  return std::nextafter(s, rest > 0.0 ? HUGE_VAL : -HUGE_VAL);
}

template <class T>
T element(T start, T delta, std::int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(start) +
                          static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::fma(static_cast<double>(i), delta, start);
  } else if constexpr (std::is_same_v<T, dd>) {
    return start + delta * static_cast<double>(i);
  } else {
    // The product is exact in double below 2^29 elements.
    const double product = static_cast<double>(i) * static_cast<double>(delta);
    return static_cast<T>(sum_to_odd(static_cast<double>(start), product));
  }
}

void eval(EvalContext& c) {
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      throw Error({.what = "range of bool", .kind = ErrorKind::unsupported});
    } else {
      const T start = c.in<T>(0)[0];
      const T delta = c.in<T>(2)[0];
      const auto out = c.out<T>(0);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = element(start, delta, static_cast<std::int64_t>(i));
    }
  });
}

const RegisterOp registered{{.type = "Range", .since = 11, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::range_op
