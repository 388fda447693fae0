// Index tensors: negative values count from the end, everything else out of range is an error.
#pragma once

#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

/// `i` counted from 0 on an axis of this size. Throws Error when out of range.
inline std::int64_t checked_index(std::int64_t i, std::int64_t size) {
  if (i >= -size && i < size) return i < 0 ? i + size : i;
  throw Error(
      {.what = "index is out of range",
       .got = std::to_string(i),
       .expected = "at least -" + std::to_string(size) + " and below " + std::to_string(size)});
}

/// For every element of an index tensor: the offset in a tensor of shape `x`, of the same rank, of
/// the element at the same place but with the index on `axis` (GatherElements, ScatterElements).
/// Throws Error when the indices are larger than `x` beside the axis.
std::vector<std::int64_t> element_offsets(const Tensor& indices, const Shape& x, std::int64_t axis);

/// Offsets (in elements) of the slices that the last axis of `indices` names, after `batch_dims`
/// common leading axes (GatherND, ScatterND).
std::vector<std::int64_t> slice_offsets(const Tensor& indices, const Shape& x,
                                        std::int64_t batch_dims);

/// How ScatterElements and ScatterND combine an update with what is there.
enum class Reduction { none, add, mul, max, min };
Reduction read_reduction(const Attributes& a, std::int64_t opset);

/// ScatterElements and ScatterND: the output is like the data, the updates have its type.
void infer_scatter(InferContext& c);

/// y[offset[i] ...] = combination with block i of `updates`, blocks of `block` elements, in order;
/// each step of a float sum or product is rounded.
void scatter(Reduction reduction, const std::vector<std::int64_t>& offsets, const Tensor& updates,
             std::int64_t block, Tensor& y);

}  // namespace assay::ops
