// GatherND (11, 12, 13): the last axis of `indices` names slices of x (after batch_dims common
// leading axes, opset 12); y = [leading axes of indices..., axes of x behind the named ones].
#include <algorithm>

#include "runtime/ops/support/indices.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::gather_nd_op {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t read_batch(const Attributes& a, std::int64_t opset) {
  return opset >= 12 ? a.int_or("batch_dims", 0) : 0;
}

void check_ranks(const TensorType& x, const TensorType& indices, std::int64_t batch) {
  const auto rank = static_cast<std::int64_t>(x.dims->size());
  const auto index_rank = static_cast<std::int64_t>(indices.dims->size());
  const bool fits = batch >= 0 && rank >= 1 && index_rank >= 1 &&
                    batch < std::min(rank, index_rank) && indices.dims->back() <= rank - batch;
  if (fits && std::equal(x.dims->begin(), x.dims->begin() + batch, indices.dims->begin(),
                         [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; }))
    return;
  throw Error({.what = "data and indices do not fit",
               .got = to_string(x) + " and " + to_string(indices) + ", batch_dims " +
                      std::to_string(batch)});
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& indices = c.input(1);
  if (!x.dims || !indices.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const std::int64_t batch = read_batch(c.attributes(), c.opset);
  check_ranks(x, indices, batch);
  const std::int64_t depth = indices.dims->back();
  if (depth < 0) return c.set_output(0, {x.dtype, std::nullopt});
  Dims dims(indices.dims->begin(), indices.dims->end() - 1);
  dims.insert(dims.end(), x.dims->begin() + batch + depth, x.dims->end());
  c.set_output(0, {x.dtype, dims});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  if (c.output(0).numel() == 0) return;
  const std::int64_t batch = read_batch(c.attributes(), c.opset);
  const std::int64_t depth = c.input(1).shape()[-1];
  const std::int64_t block = x.shape().numel(batch + depth, x.shape().rank()) * size_of(x.dtype());
  std::byte* to = c.output(0).mutable_raw().data();
  for (const std::int64_t offset : slice_offsets(c.input(1), x.shape(), batch)) {
    std::memcpy(to, element_at(x, offset), static_cast<std::size_t>(block));
    to += block;
  }
}

const RegisterOp registered{
    {.type = "GatherND", .since = 11, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::gather_nd_op
