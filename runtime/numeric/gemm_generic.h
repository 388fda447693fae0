#pragma once
// The matrix product of gemm.h as plain loops over any number type with T(double), + and *:
// double-double, rationals in tests. One chain per output, k ascending.
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/parallel.h"

namespace assay {

template <typename T>
T gemm_generic_element(const GemmArgs<T>& g, int64_t i, int64_t j) {
  const int64_t lda = g.lda != 0 ? g.lda : (g.trans_a ? g.m : g.k);
  const int64_t ldb = g.ldb != 0 ? g.ldb : (g.trans_b ? g.k : g.n);
  T sum = T(0.0);
  for (int64_t k = 0; k < g.k; ++k) {
    const T& a = g.trans_a ? g.a[k * lda + i] : g.a[i * lda + k];
    const T& b = g.trans_b ? g.b[j * ldb + k] : g.b[k * ldb + j];
    sum = sum + a * b;
  }
  if (g.alpha != 1.0) sum = T(g.alpha) * sum;
  if (g.addend.data != nullptr && g.beta != 0.0) {
    const T& c = g.addend.data[i * g.addend.row_stride + j * g.addend.col_stride];
    sum = sum + (g.beta == 1.0 ? c : T(g.beta) * c);
  }
  if (g.residual.data != nullptr)
    sum = sum + g.residual.data[i * g.residual.row_stride + j * g.residual.col_stride];
  return sum;
}

template <typename T>
void gemm_generic(const GemmArgs<T>& g) {
  const int64_t ldo = g.ldo != 0 ? g.ldo : g.n;
  parallel_for(0, g.m, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < g.n; ++j) g.out[i * ldo + j] = gemm_generic_element(g, i, j);
  });
}

}  // namespace assay
