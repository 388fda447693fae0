// OneHot (9, 11): a new axis of size depth that holds `on` at the index and `off` elsewhere; values
// = [off, on].
//
// Negative indices count from the end; an index outside [-depth, depth) gives `off` everywhere.
// Float indices and depths are truncated.
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/truncate.h"

namespace assay::ops::one_hot_op {
namespace {

std::int64_t read_depth(const Tensor& t) {
  if (t.numel() != 1) throw Error({.what = "depth must be one element", .got = describe(t)});
  const std::int64_t depth = to_ints(truncating_convert(t, DType::int64))[0];
  if (depth < 0) throw Error({.what = "negative depth", .got = std::to_string(depth)});
  return depth;
}

std::int64_t read_axis(const Attributes& a, std::size_t rank) {
  return normalize_axis(a.int_or("axis", -1), static_cast<std::int64_t>(rank) + 1);
}

void infer(InferContext& c) {
  const TensorType& indices = c.input(0);
  const DType dtype = c.input(2).dtype;
  if (!indices.dims) return c.set_output(0, {dtype, std::nullopt});
  std::vector<std::int64_t> dims = *indices.dims;
  const std::int64_t axis = read_axis(c.attributes(), dims.size());
  dims.insert(dims.begin() + axis, c.constant(1) ? read_depth(*c.constant(1)) : -1);
  c.set_output(0, {dtype, dims});
}

void eval(EvalContext& c) {
  Tensor& y = c.output(0);
  const Tensor& values = c.input(2);
  if (values.numel() != 2)
    throw Error({.what = "values must be [off, on]", .got = describe(values)});
  fill_with(y, element_at(values, 0));
  const Tensor indices = truncating_convert(c.input(0), DType::int64);
  const std::int64_t depth = read_depth(c.input(1));
  const std::int64_t axis =
      read_axis(c.attributes(), static_cast<std::size_t>(indices.shape().rank()));
  const std::int64_t inner = indices.shape().numel(axis, indices.shape().rank());
  const auto size = static_cast<std::size_t>(size_of(y.dtype()));
  std::byte* to = y.mutable_raw().data();
  const auto at = indices.data<std::int64_t>();
  for (std::int64_t i = 0; i < indices.numel(); ++i) {
    std::int64_t v = at[static_cast<std::size_t>(i)];
    if (v < -depth || v >= depth) continue;
    if (v < 0) v += depth;
    const std::int64_t place = (i / inner * depth + v) * inner + i % inner;
    std::memcpy(to + static_cast<std::size_t>(place) * size, element_at(values, 1), size);
  }
}

const RegisterOp registered{
    {.type = "OneHot", .since = 9, .infer = infer, .eval = eval, .bound = bound_moved<2>}};

}  // namespace
}  // namespace assay::ops::one_hot_op
