// The arithmetic of kernels/arithmetic.h as plain loops over one output element, written from its
// formula alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/arithmetic.h"
#include "runtime/tensor.h"

namespace assay::kernels::model {

struct Codes {
  DType dtype = DType::uint8;
  float scale = 1;
  int zero = 0;
  float low() const { return dtype == DType::uint8 ? 0.0F : -128.0F; }
  float high() const { return dtype == DType::uint8 ? 255.0F : 127.0F; }
};

/// Products of one output element: taps x channels, tap-major; padding taps are left out by the
/// caller.
struct Products {
  std::vector<std::vector<int>> q, w;  // [tap][channel]
};

inline int halved(int w) { return static_cast<int>(std::nearbyint(static_cast<double>(w) / 2.0)); }

/// Source shift that an unsigned dot product needs.
inline int shift_of(const IntArithmetic& a) { return a.s8 == SignedSource::plain ? 0 : 128; }

inline std::int64_t tap_sum(const IntArithmetic& a, const std::vector<int>& q,
                            const std::vector<int>& w) {
  std::int64_t sum = 0;
  const int shift = shift_of(a);
  for (std::size_t i = 0; i < q.size(); i += 2) {
    int pair = (q[i] + shift) * w[i];
    if (i + 1 < q.size()) pair += (q[i + 1] + shift) * w[i + 1];
    if (a.acc == Accumulator::s16pair) pair = std::clamp(pair, -32768, 32767);
    sum += pair;
  }
  return sum;
}

/// The accumulator as float32, shift and zero point taken off.
inline float accumulate(const IntArithmetic& a, Products p, int zero) {
  if (a.s8 == SignedSource::halved) {
    for (auto& tap : p.w) std::transform(tap.begin(), tap.end(), tap.begin(), halved);
  }
  std::int64_t sum = 0, weights = 0;
  for (std::size_t t = 0; t < p.q.size(); ++t) {
    sum += tap_sum(a, p.q[t], p.w[t]);
    for (const int w : p.w[t]) weights += w;
  }
  const std::int64_t shift_part = shift_of(a) * weights, zero_part = zero * weights;
  if (a.comp == Compensation::s32) return static_cast<float>(sum - shift_part - zero_part);
  float v = static_cast<float>(sum);
  if (shift_part != 0) v = v - static_cast<float>(shift_part);
  if (zero_part != 0) v = v - static_cast<float>(zero_part);
  return v;
}

struct Stage {
  float x_scale = 1, w_scale = 1, bias = 0;
  bool has_bias = false, has_residual = false, has_mid = false;
  int residual = 0;  // its code
  Codes residual_codes, mid, y;
  std::string activation;
  float act_min = 0, act_max = 0;
};

inline float activate(const Stage& s, float v) {
  if (s.activation == "Relu") return std::max(v, 0.0F);
  if (s.activation == "Clip") return std::min(std::max(v, s.act_min), s.act_max);
  if (s.activation == "HardSwish") {
    const float third = v * (1.0F / 6.0F);
    const float gate = std::min(std::max(third + 0.5F, 0.0F), 1.0F);
    return v * gate;
  }
  return v;
}

inline float add_residual(const IntArithmetic& a, const Stage& s, float v) {
  const float d = static_cast<float>(s.residual - s.residual_codes.zero);
  const float scale = s.residual_codes.scale;
  if (a.residual == ResidualForm::sum_fma) return scale == 1.0F ? v + d : std::fma(d, scale, v);
  return v + d * scale;
}

inline float round_mid(const Codes& m, float v) {
  v = std::fma(v, 1.0F / m.scale, static_cast<float>(m.zero));
  v = std::nearbyint(v);
  v = std::min(std::max(v, m.low()), m.high());
  return std::fma(v, m.scale, -static_cast<float>(m.zero) * m.scale);
}

/// The value before the output is stored, as float32 (a code or a real).
inline float finish(const IntArithmetic& a, const Stage& s, float acc) {
  float scale = s.x_scale * s.w_scale;
  if (a.s8 == SignedSource::halved) scale *= 2.0F;
  float v = acc * scale;
  if (s.has_bias) v = v + s.bias;
  if (s.has_mid) v = round_mid(s.mid, v);
  if (s.has_residual) v = add_residual(a, s, v);
  v = activate(s, v);
  if (s.y.dtype == DType::float32) return v;
  v = v * (1.0F / s.y.scale);
  v = v + static_cast<float>(s.y.zero);
  return std::nearbyint(std::min(std::max(v, s.y.low()), s.y.high()));
}

}  // namespace assay::kernels::model
