#include "runtime/ops/support/rows.h"

namespace assay::ops {

RowLayout axis_rows(const Shape& shape, std::int64_t axis) {
  const std::int64_t a = normalize_axis(axis, shape.rank());
  return {.outer = shape.numel(0, a), .row = shape[a], .inner = shape.numel(a + 1, shape.rank())};
}

RowLayout flat_rows(const Shape& shape, std::int64_t axis) {
  const std::int64_t a = axis == shape.rank() ? axis : normalize_axis(axis, shape.rank());
  return {.outer = shape.numel(0, a), .row = shape.numel(a, shape.rank()), .inner = 1};
}

}  // namespace assay::ops
