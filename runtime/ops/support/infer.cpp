#include "runtime/ops/support/infer.h"

#include <algorithm>

namespace assay::ops {
namespace {

std::int64_t broadcast_dim(std::int64_t a, std::int64_t b) {
  if (a == b) return a;
  if (a == 1) return b;
  if (b == 1) return a;
  if (a < 0) return b;  // the unknown size is b or 1
  if (b < 0) return a;
  return -2;
}

std::optional<Dims> broadcast_all(InferContext& c) {
  std::optional<Dims> dims;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const TensorType& t = c.input(i);
    if (!t.dims) return std::nullopt;
    dims = dims ? broadcast_dims(*dims, *t.dims) : *t.dims;
  }
  return dims;
}

}  // namespace

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (std::size_t i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    out[rank - i] = broadcast_dim(x, y);
    if (out[rank - i] == -2) {
      throw Error({.what = "shapes do not broadcast",
                   .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
    }
  }
  return out;
}

void infer_same(InferContext& c) { c.set_output(0, c.input(0)); }

void infer_broadcast(InferContext& c) {
  for (std::size_t i = 1; i < c.input_count(); ++i) require_same_dtype(c, 0, i);
  c.set_output(0, {c.input(0).dtype, broadcast_all(c)});
}

void infer_broadcast_bool(InferContext& c) {
  for (std::size_t i = 1; i < c.input_count(); ++i) require_same_dtype(c, 0, i);
  c.set_output(0, {DType::boolean, broadcast_all(c)});
}

void require_same_dtype(const InferContext& c, std::size_t i, std::size_t j) {
  const DType a = c.input(i).dtype;
  const DType b = c.input(j).dtype;
  if (a == b || a == DType::undefined || b == DType::undefined) return;
  throw Error({.what = "element types differ",
               .got = "input " + std::to_string(i) + " " + to_string(a) + ", input " +
                      std::to_string(j) + " " + to_string(b),
               .expected = "one element type"});
}

void require_dtype(const InferContext& c, std::size_t i, bool (*allowed)(DType),
                   const char* expected) {
  const DType t = c.input(i).dtype;
  if (t == DType::undefined || allowed(t)) return;
  throw Error({.what = "unsupported element type of input " + std::to_string(i),
               .got = to_string(t),
               .expected = expected,
               .kind = ErrorKind::unsupported});
}

void require_rank(const InferContext& c, std::size_t i, std::int64_t least) {
  const auto& dims = c.input(i).dims;
  if (!dims || static_cast<std::int64_t>(dims->size()) >= least) return;
  throw Error({.what = "rank of input " + std::to_string(i) + " is too low",
               .got = to_string(c.input(i)),
               .expected = "rank " + std::to_string(least) + " or more"});
}

}  // namespace assay::ops
