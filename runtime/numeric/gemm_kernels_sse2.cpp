// The kernels of gemm_kernels.inc for SSE2, which has no fused multiply-add: double goes through
// std::fma, float through double arithmetic with the sum rounded to odd (exact, see fused_float).
#include <emmintrin.h>

#include <bit>
#include <cmath>

#include <limits>

#include "runtime/numeric/gemm_kernels.h"

namespace assay::dot {
namespace {

constexpr int kBlockRows = 4;

// fma(a, b, c) in float. a * b is exact in double. TwoSum (Knuth) gives s + e = a * b + c exactly;
// when e is not 0 and the last bit of s is even, s moves one unit towards e, which is rounding to
// odd. Rounding an odd-rounded 53-bit value to at most 24 bits gives the correctly rounded result
// (Boldo and Melquiond, 2008), subnormal results included, because 53 >= 24 + 2. Non-finite s
// passes unchanged (e is then NaN).
inline float fused_float(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double s = p + addend;
  const double t = s - p;
  const double e = (p - (s - t)) + (addend - t);
  const auto bits = std::bit_cast<int64_t>(s);
  if ((e < 0.0 || e > 0.0) && (bits & 1) == 0) {
    const bool away = (e > 0.0) == (s > 0.0);
    s = std::bit_cast<double>(bits + (away ? 1 : -1));
  }
  return static_cast<float>(s);
}

struct F64 {
  using Scalar = double;
  using reg = __m128d;
  static constexpr int lanes = 2;
  static constexpr bool has_fma = false;
  static reg load(const double* p) { return _mm_loadu_pd(p); }
  static reg load_float(const float* p) {
    return _mm_set_pd(static_cast<double>(p[1]), static_cast<double>(p[0]));
  }
  static void store(double* p, reg v) { _mm_storeu_pd(p, v); }
  static void store_interleaved(double* p, reg a, reg b, reg c, reg d) {
    store(p, _mm_unpacklo_pd(a, b));
    store(p + 2, _mm_unpacklo_pd(c, d));
    store(p + 4, _mm_unpackhi_pd(a, b));
    store(p + 6, _mm_unpackhi_pd(c, d));
  }
  static reg set1(double v) { return _mm_set1_pd(v); }
  static reg zero() { return _mm_setzero_pd(); }
  static reg add(reg a, reg b) { return _mm_add_pd(a, b); }
  static reg sub(reg a, reg b) { return _mm_sub_pd(a, b); }
  static reg mul(reg a, reg b) { return _mm_mul_pd(a, b); }
  static reg fma(reg a, reg b, reg c) {
    double x[2], y[2], z[2];
    store(x, a), store(y, b), store(z, c);
    return _mm_set_pd(std::fma(x[1], y[1], z[1]), std::fma(x[0], y[0], z[0]));
  }
  static reg abs(reg v) { return _mm_andnot_pd(_mm_set1_pd(-0.0), v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm_set1_pd(std::numeric_limits<double>::quiet_NaN());
    const reg is_nan = _mm_cmpunord_pd(v, v);
    return _mm_or_pd(_mm_and_pd(is_nan, nan), _mm_andnot_pd(is_nan, v));
  }
  // Stores float(sum - radius); bits of the elements where that equals float(sum + radius) and is
  // not 0.
  static uint32_t decided(reg sum, reg radius, float* out) {
    const __m128 low = _mm_cvtpd_ps(_mm_sub_pd(sum, radius));
    const __m128 high = _mm_cvtpd_ps(_mm_add_pd(sum, radius));
    _mm_storel_pi(reinterpret_cast<__m64*>(out), low);
    const __m128 nonzero =
        _mm_or_ps(_mm_cmplt_ps(low, _mm_setzero_ps()), _mm_cmpgt_ps(low, _mm_setzero_ps()));
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_and_ps(_mm_cmpeq_ps(low, high), nonzero))) &
           3U;
  }
  static uint32_t both_zero(reg sum, reg radius) {
    const reg none = _mm_setzero_pd();
    return static_cast<uint32_t>(
        _mm_movemask_pd(_mm_and_pd(_mm_cmpeq_pd(radius, none), _mm_cmpeq_pd(sum, none))));
  }
};

struct F32 {
  using Scalar = float;
  using reg = __m128;
  static constexpr int lanes = 4;
  static constexpr bool has_fma = false;
  static reg load(const float* p) { return _mm_loadu_ps(p); }
  static void store(float* p, reg v) { _mm_storeu_ps(p, v); }
  static reg set1(float v) { return _mm_set1_ps(v); }
  static reg zero() { return _mm_setzero_ps(); }
  static reg add(reg a, reg b) { return _mm_add_ps(a, b); }
  static reg mul(reg a, reg b) { return _mm_mul_ps(a, b); }
  static reg fma(reg a, reg b, reg c) {
    float x[4], y[4], z[4];
    store(x, a), store(y, b), store(z, c);
    for (int e = 0; e < 4; ++e) z[e] = fused_float(x[e], y[e], z[e]);
    return load(z);
  }
  static reg abs(reg v) { return _mm_andnot_ps(_mm_set1_ps(-0.0F), v); }
  static reg canonical_nan(reg v) {
    const reg nan = _mm_set1_ps(std::numeric_limits<float>::quiet_NaN());
    const reg is_nan = _mm_cmpunord_ps(v, v);
    return _mm_or_ps(_mm_and_ps(is_nan, nan), _mm_andnot_ps(is_nan, v));
  }
};

#include "runtime/numeric/gemm_kernels.inc"

}  // namespace

const Kernels kSse2Kernels = kTable;

}  // namespace assay::dot
