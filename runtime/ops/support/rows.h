// Operators on rows: the axes [first, last) of a tensor, copied together into one contiguous row at
// a time.
#pragma once

#include <functional>
#include <vector>

#include "runtime/numeric/parallel.h"
#include "runtime/op.h"

namespace assay::ops {

/// A tensor seen as [outer, row, inner]: element k of row (o, i) is at (o * row + k) * inner + i.
struct RowLayout {
  std::int64_t outer = 1;
  std::int64_t row = 1;
  std::int64_t inner = 1;
  std::int64_t rows() const { return outer * inner; }
  std::int64_t offset(std::int64_t r) const { return r / inner * row * inner + r % inner; }
};

/// Axis `axis` is the row.
RowLayout axis_rows(const Shape& shape, std::int64_t axis);
/// Everything from `axis` on is the row (the flattening form of older operators).
RowLayout flat_rows(const Shape& shape, std::int64_t axis);

/// Calls fn(index of the row, row in, row out) for every row of `x`; the row out is written to `y`
/// at the same places.
template <class T, class F>
void map_rows(std::span<const T> x, std::span<T> y, const RowLayout& l, const F& fn) {
  if (l.row == 0) return;
  parallel_for(0, l.rows(), 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<T> in(static_cast<std::size_t>(l.row)), out(in.size());
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t base = l.offset(r);
      for (std::int64_t k = 0; k < l.row; ++k)
        in[static_cast<std::size_t>(k)] = x[static_cast<std::size_t>(base + k * l.inner)];
      fn(r, std::span<const T>(in), std::span<T>(out));
      for (std::int64_t k = 0; k < l.row; ++k)
        y[static_cast<std::size_t>(base + k * l.inner)] = out[static_cast<std::size_t>(k)];
    }
  });
}

}  // namespace assay::ops
