// ScatterElements (11, 13, 16, 18) and Scatter (9, 11): a copy of x in which updates[p] is put (or
// combined) at p with the coordinate on `axis` replaced by indices[p].
//
// reduction (16: add, mul; 18: max, min) takes the updates in row-major order; each float step is
// rounded. Without a reduction a later update of the same place wins.
#include "runtime/ops/support/indices.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::scatter_elements_op {
namespace {

void check_shapes(const Shape& x, const Shape& indices, const Shape& updates) {
  if (indices == updates && indices.rank() == x.rank()) return;
  throw Error({.what = "data, indices and updates do not fit",
               .got = to_string(x) + ", " + to_string(indices) + ", " + to_string(updates),
               .expected = "one rank, and updates like indices"});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Shape& indices = c.input(1).shape();
  check_shapes(x.shape(), indices, c.input(2).shape());
  const std::int64_t axis = normalize_axis(c.attributes().int_or("axis", 0), x.shape().rank());
  c.output(0) = x.clone();
  const auto offsets = element_offsets(c.input(1), x.shape(), axis);
  scatter(read_reduction(c.attributes(), c.opset), offsets, c.input(2), 1, c.output(0));
}

/// Only plain copies have a radius here.
void bound(BoundContext& c) {
  if (read_reduction(c.node->attributes, c.opset) == Reduction::none) move_radii(c, {0, 2});
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "ScatterElements", .since = 11, .infer = infer_scatter, .eval = eval, .bound = bound},
    {.type = "Scatter", .since = 9, .infer = infer_scatter, .eval = eval, .bound = bound}}};

}  // namespace
}  // namespace assay::ops::scatter_elements_op
