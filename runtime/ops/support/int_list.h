// Lists of integers that are an attribute in older opsets and an input in newer ones (axes, pads,
// split, ...).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

using Ints = std::vector<std::int64_t>;

/// Where a list is found.
struct IntsFrom {
  const char* attribute = nullptr;
  std::size_t input = 0;
  std::int64_t input_since = 0;  ///< first opset in which it is an input
};

struct IntList {
  bool given = false;  ///< present in the node
  bool known = false;  ///< its values are known (always, while running)
  Ints values = {};
  std::int64_t count = -1;  ///< number of values; -1: not known
};

IntList find_ints(const InferContext& c, const IntsFrom& from);
IntList find_ints(const EvalContext& c, const IntsFrom& from);

/// Input `i` as a list of integers. Throws Error for other types and for ranks above 1.
IntList input_ints(const InferContext& c, std::size_t i);
IntList input_ints(const EvalContext& c, std::size_t i);

/// Axes counted from 0. Throws Error when one is out of range or named twice.
Ints normalized_axes(const Ints& axes, std::int64_t rank);

/// Throws Error naming `what` unless the list has `expected` values.
void require_count(const char* what, const Ints& list, std::size_t expected);

/// "[1, -1]"
std::string to_text(const Ints& list);

}  // namespace assay::ops
