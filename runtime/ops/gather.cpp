// Gather (1, 11, 13): y = x with axis `axis` replaced by the axes of `indices`; the slices named by
// `indices` are copied. Negative indices count from the end.
#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::gather_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& indices = c.input(1);
  if (!x.dims || !indices.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const auto rank = static_cast<std::int64_t>(x.dims->size());
  const std::int64_t axis = normalize_axis(c.attributes().int_or("axis", 0), rank);
  std::vector<std::int64_t> dims(x.dims->begin(), x.dims->begin() + axis);
  dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
  dims.insert(dims.end(), x.dims->begin() + axis + 1, x.dims->end());
  c.set_output(0, {x.dtype, dims});
}

Ints read_indices(const Tensor& t, std::int64_t size) {
  Ints indices = to_ints(t);
  for (std::int64_t& i : indices) {
    if (i < -size || i >= size) {
      throw Error(
          {.what = "index is out of range",
           .got = std::to_string(i),
           .expected = "at least -" + std::to_string(size) + " and below " + std::to_string(size)});
    }
    if (i < 0) i += size;
  }
  return indices;
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const std::int64_t axis = normalize_axis(c.attributes().int_or("axis", 0), x.shape().rank());
  const std::int64_t size = x.shape()[axis];
  const Ints indices = read_indices(c.input(1), size);
  const auto count = static_cast<std::int64_t>(indices.size());
  const std::int64_t block = x.shape().numel(axis + 1, x.shape().rank()) * size_of(x.dtype());
  const std::int64_t outer = x.shape().numel(0, axis);
  const std::byte* from = x.raw().data();
  std::byte* to = c.output(0).mutable_raw().data();
  if (block == 0) return;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / block);
  parallel_for(0, outer * count, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t row = r / count * size + indices[static_cast<std::size_t>(r % count)];
      std::memcpy(to + r * block, from + row * block, static_cast<std::size_t>(block));
    }
  });
}

const RegisterOp registered{
    {.type = "Gather", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::gather_op
