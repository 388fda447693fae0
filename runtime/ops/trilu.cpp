// Trilu (14): the upper (attribute upper = 1) or lower triangle of the last two axes, zeros
// elsewhere. Element (r, c) is kept when c - r >= k (upper) or c - r <= k (lower).
#include <algorithm>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::trilu_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (x.dims && x.dims->size() < 2)
    throw Error({.what = "rank 2 or more is needed", .got = to_string(x)});
  c.set_output(0, x);
}

std::int64_t read_k(const EvalContext& c) {
  const IntList k = input_ints(c, 1);
  if (!k.given) return 0;
  require_count("k", k.values, 1);
  return k.values[0];
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0);
  y = Tensor::zeros(x.dtype(), x.shape());
  const bool upper = c.attributes().int_or("upper", 1) != 0;
  const std::int64_t rows = x.shape()[-2], columns = x.shape()[-1];
  const std::int64_t k = std::clamp(read_k(c), -rows - 1, columns + 1);
  const std::int64_t all_rows = x.shape().numel(0, x.shape().rank() - 1);
  for (std::int64_t i = 0; i < all_rows; ++i) {
    const std::int64_t r = i % rows;
    const std::int64_t first = upper ? std::clamp<std::int64_t>(r + k, 0, columns) : 0;
    const std::int64_t last = upper ? columns : std::clamp<std::int64_t>(r + k + 1, 0, columns);
    const std::int64_t size = size_of(x.dtype());
    std::memcpy(y.mutable_raw().data() + (i * columns + first) * size,
                element_at(x, i * columns + first),
                static_cast<std::size_t>((last - first) * size));
  }
}

const RegisterOp registered{
    {.type = "Trilu", .since = 14, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::trilu_op
