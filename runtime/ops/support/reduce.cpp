#include "runtime/ops/support/reduce.h"

namespace assay::ops {

std::vector<char> reduced_axes(const ReduceAxes& a, std::int64_t rank) {
  std::vector<char> reduced(static_cast<std::size_t>(rank), a.axes.empty() && !a.identity ? 1 : 0);
  for (const std::int64_t axis : a.axes)
    reduced[static_cast<std::size_t>(normalize_axis(axis, rank))] = 1;
  return reduced;
}

std::vector<std::int64_t> reduced_dims(const ReduceAxes& a, const std::vector<std::int64_t>& dims) {
  const auto reduced = reduced_axes(a, static_cast<std::int64_t>(dims.size()));
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i])
      out.push_back(dims[i]);
    else if (a.keep)
      out.push_back(1);
  }
  return out;
}

namespace {

/// Offsets of all positions over the axes that `wanted` marks, row-major.
std::vector<std::int64_t> offsets(const Shape& x, const std::vector<char>& reduced, bool wanted) {
  const auto strides = x.strides();
  std::vector<std::int64_t> out{0};
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
    if ((reduced[axis] != 0) != wanted) continue;
    std::vector<std::int64_t> next;
    const std::int64_t size = x[static_cast<std::int64_t>(axis)];
    next.reserve(out.size() * static_cast<std::size_t>(size));
    for (const std::int64_t base : out) {
      for (std::int64_t k = 0; k < size; ++k) next.push_back(base + k * strides[axis]);
    }
    out = std::move(next);
  }
  return out;
}

}  // namespace

ReducePlan plan_reduce(const Shape& x, const std::vector<char>& reduced) {
  return {.base = offsets(x, reduced, false), .step = offsets(x, reduced, true)};
}

}  // namespace assay::ops
