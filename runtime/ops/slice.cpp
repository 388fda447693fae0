// Slice (1: attributes; 10, 11, 13: inputs with axes and steps): y[i] = x[start + i * step] along
// each named axis.
//
// Negative starts and ends count from the end; both are then clamped to the axis, so out-of-range
// values are legal. A negative step walks backwards. Number of elements: max(0, ceil((end - start)
// / step)).
#include <algorithm>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::slice_op {
namespace {

constexpr std::int64_t kInputsSince = 10;

struct Cut {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = -1;  ///< -1: not known
};

std::int64_t clamp_to(std::int64_t v, std::int64_t size, std::int64_t low, std::int64_t high) {
  return std::clamp(v < 0 ? v + size : v, low, high);
}

Cut cut_axis(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) throw Error({.what = "a step of 0", .expected = "a step other than 0"});
  if (size == 0) return {0, 1, 0};
  // The shortest and longest possible steps must not overflow below.
  step = std::clamp<std::int64_t>(step, -(size + 1), size + 1);
  if (step > 0) {
    const std::int64_t first = clamp_to(start, size, 0, size);
    const std::int64_t past = clamp_to(end, size, 0, size);
    return {first, step, std::max<std::int64_t>(0, (past - first + step - 1) / step)};
  }
  const std::int64_t first = clamp_to(start, size, 0, size - 1);
  const std::int64_t past = clamp_to(end, size, -1, size - 1);
  return {first, step, std::max<std::int64_t>(0, (first - past - step - 1) / -step)};
}

struct SliceLists {
  IntList starts, ends, axes, steps;
  bool known() const {
    return starts.known && ends.known && (!axes.given || axes.known) &&
           (!steps.given || steps.known);
  }
};

template <class Context>
SliceLists read_lists(const Context& c) {
  return {find_ints(c, {"starts", 1, kInputsSince}), find_ints(c, {"ends", 2, kInputsSince}),
          find_ints(c, {"axes", 3, kInputsSince}), find_ints(c, {nullptr, 4, kInputsSince})};
}

/// One cut per axis of a tensor of these sizes.
std::vector<Cut> read_cuts(const SliceLists& l, const std::vector<std::int64_t>& dims) {
  std::vector<Cut> cuts;
  for (const std::int64_t d : dims) cuts.push_back({0, 1, d});
  Ints axes = l.axes.values;
  for (std::size_t i = 0; !l.axes.given && i < l.starts.values.size(); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  axes = normalized_axes(axes, static_cast<std::int64_t>(dims.size()));
  const Ints steps = l.steps.given ? l.steps.values : Ints(axes.size(), 1);
  require_count("starts", l.starts.values, axes.size());
  require_count("ends", l.ends.values, axes.size());
  require_count("steps", steps, axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto k = static_cast<std::size_t>(axes[i]);
    if (dims[k] < 0) {
      cuts[k].count = -1;
    } else {
      cuts[k] = cut_axis(dims[k], l.starts.values[i], l.ends.values[i], steps[i]);
    }
  }
  return cuts;
}

/// The lists are not known: sizes of the named axes are unknown, of all axes when those are not
/// known either.
std::vector<std::int64_t> unknown_dims(const SliceLists& l, std::vector<std::int64_t> dims) {
  const bool all = l.axes.given ? !l.axes.known : l.starts.count < 0;
  if (all) return std::vector<std::int64_t>(dims.size(), -1);
  Ints axes = l.axes.values;
  for (std::int64_t i = 0; !l.axes.given && i < l.starts.count; ++i) axes.push_back(i);
  for (const std::int64_t axis : normalized_axes(axes, static_cast<std::int64_t>(dims.size())))
    dims[static_cast<std::size_t>(axis)] = -1;
  return dims;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const SliceLists lists = read_lists(c);
  if (!lists.starts.given || !lists.ends.given) throw Error({.what = "starts or ends are missing"});
  if (!lists.known()) return c.set_output(0, {x.dtype, unknown_dims(lists, *x.dims)});
  std::vector<std::int64_t> dims;
  for (const Cut& cut : read_cuts(lists, *x.dims)) dims.push_back(cut.count);
  c.set_output(0, {x.dtype, dims});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0);
  const auto cuts = read_cuts(read_lists(c), x.shape().vec());
  const auto strides = x.shape().strides();
  StridedCopy copy{.box = y.shape().vec(),
                   .from = x.raw().data(),
                   .from_strides = strides,
                   .to = y.mutable_raw().data(),
                   .to_strides = y.shape().strides(),
                   .size = size_of(x.dtype())};
  if (y.numel() == 0) return;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    copy.from += cuts[k].start * strides[k] * copy.size;
    copy.from_strides[k] *= cuts[k].step;
  }
  copy_strided(copy);
}

const RegisterOp registered{
    {.type = "Slice", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::slice_op
