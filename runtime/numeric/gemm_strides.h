#pragma once
// Storage of a matrix product's operands as strides, and its addends in a form the tile kernels
// take.
#include <vector>

#include "runtime/numeric/gemm.h"
#include "runtime/numeric/gemm_sinks.h"

namespace assay::dot {

// a(i, k) = a[i * a_row + k * a_k], b(k, j) = b[k * b_k + j * b_col].
struct GemmStrides {
  int64_t a_row, a_k, b_k, b_col;
};

template <typename T>
GemmStrides gemm_strides(const GemmArgs<T>& g) {
  const int64_t lda = g.lda != 0 ? g.lda : (g.trans_a ? g.m : g.k);
  const int64_t ldb = g.ldb != 0 ? g.ldb : (g.trans_b ? g.k : g.n);
  return {.a_row = g.trans_a ? 1 : lda,
          .a_k = g.trans_a ? lda : 1,
          .b_k = g.trans_b ? 1 : ldb,
          .b_col = g.trans_b ? ldb : 1};
}

// The output plan of a product; addends with an odd column stride are copied to a dense matrix.
template <typename T>
class DenseAddends {
 public:
  explicit DenseAddends(const GemmArgs<T>& g) {
    plan_.out = g.out;
    plan_.out_stride = g.ldo != 0 ? g.ldo : g.n;
    plan_.alpha = g.alpha;
    plan_.beta = g.beta;
    const bool per_row = g.addend.col_stride == 0;
    if (g.beta != 0.0) plan_.addend = per_row ? g.addend : dense(g, g.addend, addend_);
    plan_.residual = dense(g, g.residual, residual_);
  }
  const OutputPlan<T>& plan() const { return plan_; }

 private:
  static Addend<T> dense(const GemmArgs<T>& g, const Addend<T>& a, std::vector<T>& copy) {
    if (a.data == nullptr || a.col_stride == 1) return a;
    copy.resize(static_cast<size_t>(g.m * g.n));
    for (int64_t i = 0; i < g.m; ++i)
      for (int64_t j = 0; j < g.n; ++j)
        copy[static_cast<size_t>(i * g.n + j)] = a.data[i * a.row_stride + j * a.col_stride];
    return {.data = copy.data(), .row_stride = g.n, .col_stride = 1};
  }

  OutputPlan<T> plan_;
  std::vector<T> addend_, residual_;
};

}  // namespace assay::dot
