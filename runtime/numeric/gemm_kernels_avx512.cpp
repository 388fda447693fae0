// The kernels of gemm_kernels.inc for AVX-512 (F, BW, DQ, VL).
#include <immintrin.h>

#include <limits>

#include "runtime/numeric/gemm_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#endif

namespace assay::dot {
namespace {

constexpr int kBlockRows = 8;  // rows x 3 vectors of accumulators: 24 of 32 registers

// The zero-masking forms with a full mask compile to the plain instruction; g++ 12 warns about the
// plain intrinsics.
constexpr __mmask8 kAll = 0xFF;

struct F64 {
  using Scalar = double;
  using reg = __m512d;
  static constexpr int lanes = 8;
  static constexpr bool has_fma = true;
  static reg load(const double* p) { return _mm512_loadu_pd(p); }
  static reg load_float(const float* p) { return _mm512_maskz_cvtps_pd(kAll, _mm256_loadu_ps(p)); }
  static void store(double* p, reg v) { _mm512_storeu_pd(p, v); }
  static void store_pairs(double* p, reg ab, reg cd) {
    store(p, _mm512_permutex2var_pd(ab, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), cd));
    store(p + 8, _mm512_permutex2var_pd(ab, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), cd));
  }
  static void store_interleaved(double* p, reg a, reg b, reg c, reg d) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    store_pairs(p, _mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(c, low, d));
    store_pairs(p + 16, _mm512_permutex2var_pd(a, high, b), _mm512_permutex2var_pd(c, high, d));
  }
  static reg set1(double v) { return _mm512_set1_pd(v); }
  static reg zero() { return _mm512_setzero_pd(); }
  static reg add(reg a, reg b) { return _mm512_add_pd(a, b); }
  static reg sub(reg a, reg b) { return _mm512_sub_pd(a, b); }
  static reg mul(reg a, reg b) { return _mm512_mul_pd(a, b); }
  static reg fma(reg a, reg b, reg c) { return _mm512_fmadd_pd(a, b, c); }
  static reg abs(reg v) { return _mm512_abs_pd(v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm512_set1_pd(std::numeric_limits<double>::quiet_NaN());
    return _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), nan);
  }
  // Stores float(sum - radius); bits of the elements where that equals float(sum + radius) and is
  // not 0.
  static uint32_t decided(reg sum, reg radius, float* out) {
    const __m256 low = _mm512_maskz_cvtpd_ps(kAll, _mm512_sub_pd(sum, radius));
    const __m256 high = _mm512_maskz_cvtpd_ps(kAll, _mm512_add_pd(sum, radius));
    _mm256_storeu_ps(out, low);
    const __mmask8 nonzero = _mm256_cmp_ps_mask(low, _mm256_setzero_ps(), _CMP_NEQ_OQ);
    return _mm256_mask_cmp_ps_mask(nonzero, low, high, _CMP_EQ_OQ);
  }
  static uint32_t both_zero(reg sum, reg radius) {
    const reg none = _mm512_setzero_pd();
    return _mm512_cmp_pd_mask(radius, none, _CMP_EQ_OQ) & _mm512_cmp_pd_mask(sum, none, _CMP_EQ_OQ);
  }
};

struct F32 {
  using Scalar = float;
  using reg = __m512;
  static constexpr int lanes = 16;
  static constexpr bool has_fma = true;
  static reg load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, reg v) { _mm512_storeu_ps(p, v); }
  static reg set1(float v) { return _mm512_set1_ps(v); }
  static reg zero() { return _mm512_setzero_ps(); }
  static reg add(reg a, reg b) { return _mm512_add_ps(a, b); }
  static reg mul(reg a, reg b) { return _mm512_mul_ps(a, b); }
  static reg fma(reg a, reg b, reg c) { return _mm512_fmadd_ps(a, b, c); }
  static reg abs(reg v) { return _mm512_abs_ps(v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN());
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
  }
};

#include "runtime/numeric/gemm_kernels.inc"

}  // namespace

const Kernels kAvx512Kernels = kTable;

}  // namespace assay::dot

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
