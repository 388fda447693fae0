#include "runtime/ops/support/matmul.h"

namespace assay::ops {
namespace {

[[noreturn]] void misfit(const Dims& a, const Dims& b) {
  throw Error({.what = "operands of MatMul do not fit",
               .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
}

}  // namespace

Dims matmul_dims(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) misfit(a, b);
  const std::int64_t ka = a.back();
  const std::int64_t kb = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (ka != kb && ka >= 0 && kb >= 0) misfit(a, b);
  const Dims lead_a(a.begin(), a.end() - (a.size() == 1 ? 1 : 2));
  const Dims lead_b(b.begin(), b.end() - (b.size() == 1 ? 1 : 2));
  Dims out = broadcast_dims(lead_a, lead_b);
  if (a.size() > 1) out.push_back(a[a.size() - 2]);
  if (b.size() > 1) out.push_back(b.back());
  return out;
}

MatMulShape matmul_shape(const Shape& a, const Shape& b) {
  MatMulShape s;
  s.out = Shape(matmul_dims(a.vec(), b.vec()));
  s.k = a[-1];
  s.m = a.rank() == 1 ? 1 : a[-2];
  s.n = b.rank() == 1 ? 1 : b[-1];
  const auto lead = [](const Shape& t) {
    const auto drop = t.rank() == 1 ? 1 : 2;
    return Shape(Dims(t.vec().begin(), t.vec().end() - drop));
  };
  s.batch_a = lead(a);
  s.batch_b = lead(b);
  s.batch = *broadcast(s.batch_a, s.batch_b);
  return s;
}

}  // namespace assay::ops
