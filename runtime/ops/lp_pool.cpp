// LpPool (1, 2, 11, 18) and GlobalLpPool (1, 2): y = (sum |x|^p over the window)^(1/p), p 2 when
// absent.
//
// cr rounds the exact composite once for p = 1 and 2; for other p it is computed in double-double
// and rounded once. Padding taps do not take part, which is the same as zeros.
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/pool.h"

namespace assay::ops::lp_pool_op {
namespace {

template <class T>
std::vector<T> magnitudes(std::span<const T> x) {
  std::vector<T> out;
  for (const T& v : x) out.push_back(v < T(0.0) ? T(-v) : v);
  return out;
}

template <class T>
T norm(std::span<const T> x, std::int64_t p, bool correct) {
  if constexpr (std::is_same_v<T, float>) {
    if (correct && p == 1) return cr_sum_abs(x);
    if (correct && p == 2) return cr_l2(x);
    if (correct) {
      std::vector<dd> wide;
      for (const float v : x) wide.emplace_back(static_cast<double>(v));
      const Tensor y = Tensor::scalar<dd>(norm<dd>(wide, p, false));
      return convert(y, DType::float32).template data<float>()[0];
    }
  }
  const std::vector<T> sizes = magnitudes(x);
  if (p == 1) return row_sum<T>(sizes);
  if (p == 2) return row_l2<T>(x);
  std::vector<T> powers;
  for (const T& v : sizes) {
    T power = v;
    for (std::int64_t i = 1; i < p; ++i) power = power * v;
    powers.push_back(power);
  }
  return evaluate_pow(row_sum<T>(powers), T(T(1.0) / T(static_cast<double>(p))));
}

std::int64_t read_p(const EvalContext& c) {
  const std::int64_t p = c.attributes().int_or("p", 2);
  if (p >= 1 && p <= 64) return p;
  throw Error({.what = "attribute 'p' of a norm", .got = std::to_string(p), .expected = "1 to 64"});
}

void core(EvalContext& c) {
  const PoolShape s = read_pool_shape(c.attributes(), c.input(0).shape());
  const auto taps = all_taps(s);
  const std::int64_t p = read_p(c);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = c.in<T>(0).data();
    T* y = c.out<T>(0).data();
    parallel_for(0, s.rows * s.out_size(), 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<T> row;
      for (std::int64_t i = first; i < last; ++i) {
        row.clear();
        for (const std::int64_t at : taps[static_cast<std::size_t>(i % s.out_size())].offsets)
          row.push_back(x[i / s.out_size() * s.in_size() + at]);
        y[i] = canonical(norm<T>(row, p, c.precision == Precision::cr));
      }
    });
  });
}

void core_global(EvalContext& c) {
  const Shape& shape = c.input(0).shape();
  const auto size = static_cast<std::size_t>(shape.numel(2, shape.rank()));
  const std::int64_t p = read_p(c);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = c.in<T>(0);
    const auto y = c.out<T>(0);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = canonical(norm<T>(x.subspan(i * size, size), p, c.precision == Precision::cr));
  });
}

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_pool(c);
}

void infer_global(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  infer_global_pool(c);
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "LpPool", .since = 1, .infer = infer, .eval = with_narrow<core>},
    {.type = "GlobalLpPool", .since = 1, .infer = infer_global, .eval = with_narrow<core_global>}}};

}  // namespace
}  // namespace assay::ops::lp_pool_op
