// AVX512-VNNI form: vpdpbusd adds four u8 x s8 products to an int32 without saturation.
#include <immintrin.h>

#include "runtime/numeric/int_gemm_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni")
#endif

namespace assay::dot {
namespace {

template <int Rows, int Vecs>
inline void block(const IntDotCall& c, int row, int col) {
  __m512i acc[Rows][Vecs];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vecs; ++v) acc[r][v] = _mm512_setzero_si512();
  const int8_t* w = c.rows + row * 4;
  const uint8_t* x = c.cols + col * 4;
  for (int64_t q = 0; q < c.quads; ++q, w += kIntRows * 4, x += c.width * 4) {
    __m512i codes[Vecs];
#pragma GCC unroll 8
    for (int v = 0; v < Vecs; ++v) codes[v] = _mm512_loadu_si512(x + v * 64);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      int32_t quad;
      __builtin_memcpy(&quad, w + r * 4, 4);
      const __m512i weights = _mm512_set1_epi32(quad);
#pragma GCC unroll 8
      for (int v = 0; v < Vecs; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], codes[v], weights);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vecs; ++v)
      _mm512_storeu_si512(c.tile + (row + r) * c.width + col + v * 16, acc[r][v]);
}

template <int Vecs>
inline void columns(const IntDotCall& c, int col) {
  if (c.row_count > 4)
    block<8, Vecs>(c, 0, col);
  else if (c.row_count > 1)
    block<4, Vecs>(c, 0, col);
  else
    block<1, Vecs>(c, 0, col);
}

}  // namespace

void int_dot_vnni(const IntDotCall& c) {
  if (c.width == 48) columns<3>(c, 0);
  if (c.width == 32) columns<2>(c, 0);
  if (c.width == 16) columns<1>(c, 0);
}

}  // namespace assay::dot

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
