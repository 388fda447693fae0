// The kernels of gemm_kernels.inc for AVX2 with FMA.
#include <immintrin.h>

#include <limits>

#include "runtime/numeric/gemm_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace assay::dot {
namespace {

constexpr int kBlockRows = 4;  // rows x 3 vectors of accumulators: 12 of 16 registers

struct F64 {
  using Scalar = double;
  using reg = __m256d;
  static constexpr int lanes = 4;
  static constexpr bool has_fma = true;
  static reg load(const double* p) { return _mm256_loadu_pd(p); }
  static reg load_float(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static void store(double* p, reg v) { _mm256_storeu_pd(p, v); }
  static void store_interleaved(double* p, reg a, reg b, reg c, reg d) {
    const reg ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    const reg cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    store(p, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
    store(p + 4, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
    store(p + 8, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
    store(p + 12, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
  }
  static reg set1(double v) { return _mm256_set1_pd(v); }
  static reg zero() { return _mm256_setzero_pd(); }
  static reg add(reg a, reg b) { return _mm256_add_pd(a, b); }
  static reg sub(reg a, reg b) { return _mm256_sub_pd(a, b); }
  static reg mul(reg a, reg b) { return _mm256_mul_pd(a, b); }
  static reg fma(reg a, reg b, reg c) { return _mm256_fmadd_pd(a, b, c); }
  static reg abs(reg v) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm256_set1_pd(std::numeric_limits<double>::quiet_NaN());
    return _mm256_blendv_pd(v, nan, _mm256_cmp_pd(v, v, _CMP_UNORD_Q));
  }
  // Stores float(sum - radius); bits of the elements where that equals float(sum + radius) and is
  // not 0.
  static uint32_t decided(reg sum, reg radius, float* out) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_sub_pd(sum, radius));
    const __m128 high = _mm256_cvtpd_ps(_mm256_add_pd(sum, radius));
    _mm_storeu_ps(out, low);
    const __m128 nonzero = _mm_cmp_ps(low, _mm_setzero_ps(), _CMP_NEQ_OQ);
    return static_cast<uint32_t>(
        _mm_movemask_ps(_mm_and_ps(_mm_cmp_ps(low, high, _CMP_EQ_OQ), nonzero)));
  }
  static uint32_t both_zero(reg sum, reg radius) {
    const reg none = _mm256_setzero_pd();
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_and_pd(
        _mm256_cmp_pd(radius, none, _CMP_EQ_OQ), _mm256_cmp_pd(sum, none, _CMP_EQ_OQ))));
  }
};

struct F32 {
  using Scalar = float;
  using reg = __m256;
  static constexpr int lanes = 8;
  static constexpr bool has_fma = true;
  static reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, reg v) { _mm256_storeu_ps(p, v); }
  static reg set1(float v) { return _mm256_set1_ps(v); }
  static reg zero() { return _mm256_setzero_ps(); }
  static reg add(reg a, reg b) { return _mm256_add_ps(a, b); }
  static reg mul(reg a, reg b) { return _mm256_mul_ps(a, b); }
  static reg fma(reg a, reg b, reg c) { return _mm256_fmadd_ps(a, b, c); }
  static reg abs(reg v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  }
};

#include "runtime/numeric/gemm_kernels.inc"

}  // namespace

const Kernels kAvx2Kernels = kTable;

}  // namespace assay::dot

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
