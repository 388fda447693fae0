// Shape (1, 13, 15, 19, 21) and Size (1, 13, 19, 21): the sizes of a tensor, and the number of its
// elements, as int64.
//
// Shape from opset 15 on: only the axes [start, end), both clamped to the rank. The elements
// themselves are never read.
#include <algorithm>

#include "runtime/ops/support/movement.h"

namespace assay::ops::shape_op {
namespace {

struct Part {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Part read_part(const Attributes& a, std::int64_t opset, std::int64_t rank) {
  if (opset < 15) return {0, rank};
  const auto clamped = [rank](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t first = clamped(a.int_or("start", 0));
  return {first, std::max(first, clamped(a.int_or("end", rank)))};
}

void infer_shape(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {DType::int64, std::vector<std::int64_t>{-1}});
  const Part p = read_part(c.attributes(), c.opset, static_cast<std::int64_t>(x.dims->size()));
  c.set_output(0, DType::int64, {p.last - p.first});
}

void eval_shape(EvalContext& c) {
  const Shape& shape = c.input(0).shape();
  const Part p = read_part(c.attributes(), c.opset, shape.rank());
  const auto out = c.out<std::int64_t>(0);
  for (std::int64_t i = p.first; i < p.last; ++i)
    out[static_cast<std::size_t>(i - p.first)] = shape[i];
}

void infer_size(InferContext& c) { c.set_output(0, DType::int64, Shape{}); }

void eval_size(EvalContext& c) { c.out<std::int64_t>(0)[0] = c.input(0).shape().numel(); }

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Shape", .infer = infer_shape, .eval = eval_shape, .bound = bound_exact},
    {.type = "Size", .infer = infer_size, .eval = eval_size, .bound = bound_exact}}};

}  // namespace
}  // namespace assay::ops::shape_op
