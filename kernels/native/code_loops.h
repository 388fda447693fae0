// The inner loops between float32 and codes, for kernels that quantize or dequantize on the way.
//
// Quantizing one element with one scale: k = rne(x * f32(1/s)) is the code or a neighbour of it.
// The sign of fma(-(k + 1/2), s, x) is the exact sign of x - (k + 1/2) s, because an fma rounds
// once and rounding keeps the sign; so k is corrected exactly, ties to even, without a division.
// The result is that of the quotient as a real number. Dequantizing: f32(q - z) * s, one rounding.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/native/simd.h"
#include "runtime/dtype.h"

namespace assay::kernels {

struct QuantizeParams {
  float scale, inverse;
  float low, high;  // bounds of k, one beyond what the codes can hold
  std::int32_t zero, code_low, code_high;
};

/// x in steps of the scale, bounded, and the nearest integer to it, halves to even.
struct Steps {
  float q, k;
};

ASSAY_SIMD_BODY Steps steps_of(float x, const QuantizeParams& p) {
  float q = x * p.inverse;
  q = q > p.low ? q : p.low;  // also turns NaN into a number
  q = q < p.high ? q : p.high;
  // Adding and taking away 1.5 * 2^23 rounds to the nearest even integer (|q| is far below 2^22).
  constexpr float magic = 12582912.0F;
  const float rounded = q + magic;
  return {q, rounded - magic};
}

ASSAY_SIMD_BODY std::int32_t bounded(std::int32_t code, const QuantizeParams& p) {
  code = code > p.code_low ? code : p.code_low;
  return code < p.code_high ? code : p.code_high;
}

ASSAY_SIMD_BODY std::int32_t code_of(float x, const QuantizeParams& p) {
  const float k = steps_of(x, p).k;
  const auto i = static_cast<std::int32_t>(k);
  const float above = __builtin_fmaf(-(k + 0.5F), p.scale, x);
  const float below = __builtin_fmaf(-(k - 0.5F), p.scale, x);
  const std::int32_t odd = i & 1;
  const std::int32_t up = (above > 0.0F ? 1 : 0) | (above == 0.0F ? odd : 0);
  const std::int32_t down = (below < 0.0F ? 1 : 0) | (below == 0.0F ? odd : 0);
  return bounded((x != x ? 0 : i + up - down) + p.zero, p);
}

/// Codes of n elements. The product with the inverse is off by at most 2^-14 codes (|k| <= 512, two
/// roundings), so only a group with an element close to a tie, or a NaN, needs the exact signs.
template <class T>
struct QuantizeLoop {
  ASSAY_SIMD_BODY void operator()(const float* x, T* y, std::int64_t n, QuantizeParams p) const {
    std::int64_t i = 0;
    for (; i + group <= n; i += group) {
      if (!quick(x + i, y + i, p)) exact(x + i, y + i, group, p);
    }
    exact(x + i, y + i, n - i, p);
  }

 private:
  static constexpr std::int64_t group = 64;

  static ASSAY_SIMD_BODY void exact(const float* x, T* y, std::int64_t n, const QuantizeParams& p) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(code_of(x[i], p));
  }

  /// False when an element may be wrong.
  static ASSAY_SIMD_BODY bool quick(const float* x, T* y, const QuantizeParams& p) {
    constexpr float safe = 0.5F - 0x1p-12F;
    std::int32_t doubtful = 0;
    T codes[group];
    // A plain loop of constant count: compilers size the arrays of an OpenMP reduction for the base
    // instruction set.
    for (std::int64_t i = 0; i < group; ++i) {
      const Steps s = steps_of(x[i], p);
      const std::int32_t near_tie = __builtin_fabsf(s.q - s.k) < safe ? 0 : 1;
      doubtful |= near_tie | (x[i] == x[i] ? 0 : 1);
      codes[i] = static_cast<T>(bounded(static_cast<std::int32_t>(s.k) + p.zero, p));
    }
    std::copy_n(codes, group, y);
    return doubtful == 0;
  }
};

inline QuantizeParams quantize_params(DType code, float scale, std::int32_t zero) {
  QuantizeParams p{};
  p.scale = scale;
  p.inverse = 1.0F / scale;
  p.zero = zero;
  p.code_low = code == DType::uint8 ? 0 : -128;
  p.code_high = code == DType::uint8 ? 255 : 127;
  p.low = static_cast<float>(p.code_low - zero - 1);
  p.high = static_cast<float>(p.code_high - zero + 1);
  return p;
}

/// Far from the ends of the exponent range the product with the inverse is off by less than one
/// code.
inline bool quantizes_exactly(float scale) { return scale > 1e-30F && scale < 1e30F; }

template <class T>
struct DequantizeLoop {
  ASSAY_SIMD_BODY void operator()(const T* q, float* y, std::int64_t n, float scale,
                                  std::int32_t zero) const {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<float>(static_cast<std::int32_t>(q[i]) - zero) * scale;
    }
  }
};

}  // namespace assay::kernels
