// SSE2 forms, and the choice between the forms.
#include <emmintrin.h>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/int_gemm_kernels.h"

namespace assay::dot {

// vpmaddwd on codes widened to 16 bits: 255 * 128 * 2 fits int32, so every step is exact.
void int_dot_sse2(const IntDotCall& c) {
  const __m128i zero = _mm_setzero_si128();
  for (int r = 0; r < c.row_count; ++r) {
    for (int j = 0; j < c.width; j += 4) {
      __m128i low = zero, high = zero;  // columns j, j + 1 and j + 2, j + 3: two half sums each
      for (int64_t q = 0; q < c.quads; ++q) {
        const int8_t* w = c.rows + (q * kIntRows + r) * 4;
        const __m128i weights = _mm_set_epi16(w[3], w[2], w[1], w[0], w[3], w[2], w[1], w[0]);
        const __m128i codes =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(c.cols + (q * c.width + j) * 4));
        low = _mm_add_epi32(low, _mm_madd_epi16(_mm_unpacklo_epi8(codes, zero), weights));
        high = _mm_add_epi32(high, _mm_madd_epi16(_mm_unpackhi_epi8(codes, zero), weights));
      }
      const __m128 even = _mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0x88);
      const __m128 odd = _mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0xDD);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(c.tile + r * c.width + j),
                       _mm_add_epi32(_mm_castps_si128(even), _mm_castps_si128(odd)));
    }
  }
}

IntDot int_dot() {
  if (isa_has_vnni()) return int_dot_vnni;
  return current_isa() == Isa::sse2 ? int_dot_sse2 : int_dot_avx2;
}

void interleave_quads(const uint8_t* const src[4], uint8_t* dst) {
  const auto load = [&](int e) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src[e]));
  };
  const auto store = [&](int at, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + at), v);
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab_low = _mm_unpacklo_epi8(a, b), ab_high = _mm_unpackhi_epi8(a, b);
  const __m128i cd_low = _mm_unpacklo_epi8(c, d), cd_high = _mm_unpackhi_epi8(c, d);
  store(0, _mm_unpacklo_epi16(ab_low, cd_low));
  store(16, _mm_unpackhi_epi16(ab_low, cd_low));
  store(32, _mm_unpacklo_epi16(ab_high, cd_high));
  store(48, _mm_unpackhi_epi16(ab_high, cd_high));
}

}  // namespace assay::dot
