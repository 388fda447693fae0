// AVX2 form: vpmaddwd on codes widened to 16 bits, exact (see the SSE2 form).
#include <immintrin.h>

#include "runtime/numeric/int_gemm_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace assay::dot {
namespace {

// Four rows by eight columns; each accumulator holds two half sums of four columns.
void block(const IntDotCall& c, int row, int col) {
  __m256i acc[4][2];
  for (auto& pair : acc) pair[0] = pair[1] = _mm256_setzero_si256();
  const int8_t* w = c.rows + row * 4;
  const uint8_t* x = c.cols + col * 4;
  for (int64_t q = 0; q < c.quads; ++q, w += kIntRows * 4, x += c.width * 4) {
    const __m256i first =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
    const __m256i second =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 16)));
    for (int r = 0; r < 4; ++r) {
      int32_t quad;
      __builtin_memcpy(&quad, w + r * 4, 4);
      const __m256i weights = _mm256_cvtepi8_epi16(_mm_set1_epi32(quad));
      acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_madd_epi16(first, weights));
      acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_madd_epi16(second, weights));
    }
  }
  for (int r = 0; r < 4; ++r) {
    // hadd works per 128-bit half: columns 0 1 4 5 | 2 3 6 7.
    const __m256i sums = _mm256_hadd_epi32(acc[r][0], acc[r][1]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(c.tile + (row + r) * c.width + col),
                        _mm256_permute4x64_epi64(sums, 0xD8));
  }
}

}  // namespace

void int_dot_avx2(const IntDotCall& c) {
  for (int row = 0; row < c.row_count; row += 4)
    for (int col = 0; col < c.width; col += 8) block(c, row, col);
}

}  // namespace assay::dot

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
