// Expand (8, 13): y = x broadcast with the shape that input 1 names (both ways, so a size of 1 in
// the shape keeps the tensor's own size).
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::expand_op {
namespace {

using Dims = std::vector<std::int64_t>;

/// Broadcast where the tensor may have unknown sizes.
Dims expanded(const TensorType& x, const Ints& target) {
  Dims out(std::max(x.dims->size(), target.size()), 1);
  const auto from_end = [](const Dims& d, std::size_t i) {
    return i < d.size() ? d[d.size() - 1 - i] : 1;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t a = from_end(*x.dims, i);
    const std::int64_t b = from_end(target, i);
    const bool fits = b >= 0 && (a == b || a == 1 || b == 1 || a < 0);
    if (!fits) {
      throw Error({.what = "cannot expand",
                   .got = "input " + to_string(x) + ", target " + to_text(target)});
    }
    out[out.size() - 1 - i] = b == 1 ? a : b;
  }
  return out;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const IntList target = input_ints(c, 1);
  if (!x.dims || target.count < 0) return c.set_output(0, {x.dtype, std::nullopt});
  if (!target.known) {
    const std::size_t rank = std::max(x.dims->size(), static_cast<std::size_t>(target.count));
    return c.set_output(0, {x.dtype, Dims(rank, -1)});
  }
  c.set_output(0, {x.dtype, expanded(x, target.values)});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0);
  copy_strided({.box = y.shape().vec(),
                .from = x.raw().data(),
                .from_strides = broadcast_strides(x.shape(), y.shape()),
                .to = y.mutable_raw().data(),
                .to_strides = y.shape().strides(),
                .size = size_of(x.dtype())});
}

const RegisterOp registered{
    {.type = "Expand", .since = 8, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::expand_op
