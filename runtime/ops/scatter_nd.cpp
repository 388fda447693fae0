// ScatterND (11, 13, 16, 18): a copy of x in which the slices that the last axis of `indices` names
// are replaced by (or combined with) the slices of `updates`.
//
// reduction as in ScatterElements: in order, each float step rounded.
#include "runtime/ops/support/indices.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::scatter_nd_op {
namespace {

void check_shapes(const Shape& x, const Shape& indices, const Shape& updates) {
  bool fits = indices.rank() >= 1 && indices[-1] <= x.rank();
  if (fits) {
    std::vector<std::int64_t> want(indices.vec().begin(), indices.vec().end() - 1);
    want.insert(want.end(), x.vec().begin() + indices[-1], x.vec().end());
    fits = Shape(want) == updates;
  }
  if (fits) return;
  throw Error({.what = "data, indices and updates do not fit",
               .got = to_string(x) + ", " + to_string(indices) + ", " + to_string(updates),
               .expected = "updates = leading axes of indices, then the axes of data that remain"});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& indices = c.input(1);
  check_shapes(x.shape(), indices.shape(), c.input(2).shape());
  c.output(0) = x.clone();
  if (c.input(2).numel() == 0) return;
  const std::int64_t block = x.shape().numel(indices.shape()[-1], x.shape().rank());
  scatter(read_reduction(c.attributes(), c.opset), slice_offsets(indices, x.shape(), 0), c.input(2),
          block, c.output(0));
}

/// Only plain copies have a radius here.
void bound(BoundContext& c) {
  if (read_reduction(c.node->attributes, c.opset) == Reduction::none) move_radii(c, {0, 2});
}

const RegisterOp registered{
    {.type = "ScatterND", .since = 11, .infer = infer_scatter, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::scatter_nd_op
