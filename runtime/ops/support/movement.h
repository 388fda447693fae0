// Moving elements without looking at them: copies by element size, so that bits (NaN payloads, -0)
// are kept and no code is instantiated per element type.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

/// Calls f(std::integral_constant<std::size_t, N>{}) with the element size N: 1, 2, 4, 8 or 16.
template <class F>
void visit_size(std::int64_t size, F&& f) {
  switch (size) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>{});
    case 2:
      return f(std::integral_constant<std::size_t, 2>{});
    case 4:
      return f(std::integral_constant<std::size_t, 4>{});
    case 8:
      return f(std::integral_constant<std::size_t, 8>{});
    default:
      ASSAY_ASSERT(size == 16);
      return f(std::integral_constant<std::size_t, 16>{});
  }
}

/// A box of elements, read and written with strides (in elements, of any sign).
struct StridedCopy {
  std::vector<std::int64_t> box;
  const std::byte* from = nullptr;
  std::vector<std::int64_t> from_strides;
  std::byte* to = nullptr;
  std::vector<std::int64_t> to_strides;
  std::int64_t size = 0;  ///< bytes per element
};
void copy_strided(const StridedCopy& copy);

/// For one axis: which input position each output position reads; kFill reads none.
using AxisTable = std::vector<std::int64_t>;
inline constexpr std::int64_t kFill = -1;
AxisTable identity_table(std::int64_t size);

/// y[i0, i1, ...] = x[t0[i0], t1[i1], ...], or the element `fill` where a table says kFill. One
/// table per axis, as long as that axis of y. `fill` may be nullptr when no table uses kFill.
void copy_by_tables(const Tensor& x, std::span<const AxisTable> tables, const std::byte* fill,
                    Tensor& y);

/// Sets every element of `y` to the element at `element`.
void fill_with(Tensor& y, const std::byte* element);

/// Bytes of element `at` of a tensor.
inline const std::byte* element_at(const Tensor& t, std::int64_t at) {
  return t.raw().data() + at * size_of(t.dtype());
}

/// Radius of an operator that only moves elements: the operator itself, applied to the radii of the
/// inputs listed in `data` (all inputs when empty). The other inputs are read as integers.
void move_radii(BoundContext& c, std::initializer_list<std::size_t> data);

template <std::size_t... data>
void bound_moved(BoundContext& c) {
  move_radii(c, {data...});
}

/// Radius of outputs that no rounding can reach (shapes, constants): zero.
void bound_exact(BoundContext& c);

}  // namespace assay::ops
