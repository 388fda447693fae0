// Reductions over a set of axes: which axes, which output shape, and the rows to reduce.
#pragma once

#include <functional>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

/// Axes of a Reduce operator: input 1 from `input_since` on, else the attribute. nullopt when they
/// are an input that is not known.
struct ReduceAxes {
  std::vector<std::int64_t> axes;  ///< as given, may be negative
  bool keep = true;
  bool identity = false;  ///< noop_with_empty_axes: nothing is reduced
};

/// For every axis of a tensor of this rank: is it reduced?
std::vector<char> reduced_axes(const ReduceAxes& a, std::int64_t rank);

/// Output sizes; -1 stays unknown.
std::vector<std::int64_t> reduced_dims(const ReduceAxes& a, const std::vector<std::int64_t>& dims);

/// Offsets of a reduction: element k of the row of output o is at base[o] + step[k].
struct ReducePlan {
  std::vector<std::int64_t> base;
  std::vector<std::int64_t> step;
};
ReducePlan plan_reduce(const Shape& x, const std::vector<char>& reduced);

}  // namespace assay::ops
