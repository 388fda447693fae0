// Batched matrix products with numpy's rules (MatMul and its fused forms).
//
// A vector on the left is a row, on the right a column, and the axis that this adds is taken out
// again. Leading axes broadcast.
#pragma once

#include "runtime/numeric/gemm.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops {

struct MatMulShape {
  std::int64_t m = 0, n = 0, k = 0;
  Shape batch_a, batch_b, batch;  ///< leading axes of a, b and their broadcast
  Shape out;
};

/// Shapes with unknown sizes. Throws Error when the operands do not fit.
Dims matmul_dims(const Dims& a, const Dims& b);
MatMulShape matmul_shape(const Shape& a, const Shape& b);

/// Calls fn(index of the product, index of a's matrix, index of b's matrix) for every matrix
/// product.
template <class F>
void for_each_product(const MatMulShape& s, const F& fn) {
  const auto strides_a = broadcast_strides(s.batch_a, s.batch);
  const auto strides_b = broadcast_strides(s.batch_b, s.batch);
  for (std::int64_t i = 0; i < s.batch.numel(); ++i) {
    std::int64_t rest = i, ia = 0, ib = 0;
    for (std::int64_t axis = s.batch.rank() - 1; axis >= 0; --axis) {
      const std::int64_t at = rest % s.batch[axis];
      rest /= s.batch[axis];
      ia += at * strides_a[static_cast<std::size_t>(axis)];
      ib += at * strides_b[static_cast<std::size_t>(axis)];
    }
    fn(i, ia, ib);
  }
}

/// Multiply-accumulates of a product.
inline std::int64_t matmul_macs(const Shape& a, const Shape& b) {
  const MatMulShape s = matmul_shape(a, b);
  return s.out.numel() * s.k;
}

}  // namespace assay::ops
