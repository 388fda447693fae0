// Tile (1: tiles and axis; 6, 13: repeats): the tensor repeated along each axis.
//
// The size comes from data and is bounded before anything is allocated (max_tensor_bytes).
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::tile_op {
namespace {

/// Repeats per axis; nullopt when they are not known.
std::optional<Ints> read_repeats(const InferContext& c, std::size_t rank) {
  const IntList list = input_ints(c, 1);
  if (c.opset >= 6) {
    if (list.known) require_count("repeats", list.values, rank);
    return list.known ? std::optional(list.values) : std::nullopt;
  }
  const IntList axis = input_ints(c, 2);
  if (!list.known || !axis.known) return std::nullopt;
  require_count("tiles", list.values, 1);
  require_count("axis", axis.values, 1);
  Ints repeats(rank, 1);
  repeats[static_cast<std::size_t>(
      normalize_axis(axis.values[0], static_cast<std::int64_t>(rank)))] = list.values[0];
  return repeats;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const auto repeats = read_repeats(c, x.dims->size());
  std::vector<std::int64_t> dims(x.dims->size(), -1);
  for (std::size_t i = 0; repeats && i < dims.size(); ++i) {
    const std::int64_t times = (*repeats)[i];
    const std::int64_t size = (*x.dims)[i];
    if (times < 0 || (size > 0 && __builtin_mul_overflow(times, size, &dims[i])))
      throw Error({.what = "repeats out of range", .got = to_text(*repeats)});
    if (size <= 0) dims[i] = times == 0 ? 0 : size;
  }
  c.set_output(0, {x.dtype, dims});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0);
  if (y.numel() == 0) return;
  // Each axis of size n, repeated r times, is read as two axes [r, n] of which the first stands
  // still.
  const auto strides = x.shape().strides();
  StridedCopy copy{.box = {},
                   .from = x.raw().data(),
                   .from_strides = {},
                   .to = y.mutable_raw().data(),
                   .to_strides = {},
                   .size = size_of(x.dtype())};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    copy.box.push_back(y.shape()[axis] / x.shape()[axis]);
    copy.box.push_back(x.shape()[axis]);
    copy.from_strides.push_back(0);
    copy.from_strides.push_back(strides[i]);
  }
  copy.to_strides = Shape(copy.box).strides();
  copy_strided(copy);
}

const RegisterOp registered{
    {.type = "Tile", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::tile_op
