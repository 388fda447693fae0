// BatchNormalization of one channel, correctly rounded: y = (x - mean) / sqrt(variance + epsilon) *
// scale + bias.
//
// s* = scale / sqrt(variance + epsilon) and t* = bias - mean s* become doubles s and t, each off by
// at most u (1 + 2^-7) of itself (`quick_coefficients`; MPFR where those cancel).
// Per element y = x s + t in double: |y - exact| <= u (|x s| + |x s| + |t| + |y|) (1 + 2^-7) for s,
// the product, t and the sum, where |y| <= (|x s| + |t|)(1 + u). With the rounding of the
// interval's ends that is below 5 u (|x s| + |t|), the error used. Exact ties are decided by
// exact_normalized: a = (x - mean) scale, d = variance + epsilon.

#include <algorithm>
#include <cassert>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/proved.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kPart = 16;  // of a block; rows of images end within one
constexpr double kError = 5 * 0x1p-53;

// `count` is a multiple of kPart.
ASSAY_CORE bool block(double scale, double shift, const float* __restrict x, float* __restrict y,
                      std::size_t count, std::int32_t* __restrict undecided) {
  const double relative = proved<"float32, batch normalization">(kError).value;
  const double fixed = relative * std::fabs(shift);
  std::int32_t any = 0;
  for (std::size_t part = 0; part < count; part += kPart) {
    std::int32_t open[kPart];
    for (std::size_t i = 0; i < kPart; ++i) {
      const double product = static_cast<double>(x[part + i]) * scale;
      const double value = product + shift;
      const double error = relative * core::magnitude(product) + fixed;
      const auto low = static_cast<float>(value - error);
      const auto high = static_cast<float>(value + error);
      y[part + i] = low;
      open[i] = low == high ? 0 : 1;
    }
    for (std::size_t i = 0; i < kPart; ++i) undecided[part + i] = open[i];
    for (std::size_t i = 0; i < kPart; ++i) any |= open[i];
  }
  return any != 0;
}

bool block_base(double scale, double shift, const float* x, float* y, std::size_t count,
                std::int32_t* undecided) {
  return block(scale, shift, x, y, count, undecided);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] bool block_avx2(double scale, double shift, const float* x, float* y,
                                        std::size_t count, std::int32_t* undecided) {
  return block(scale, shift, x, y, count, undecided);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] bool block_avx512(double scale, double shift,
                                                                        const float* x, float* y,
                                                                        std::size_t count,
                                                                        std::int32_t* undecided) {
  return block(scale, shift, x, y, count, undecided);
}
auto best_block() {
  if (current_isa() >= Isa::avx512) return block_avx512;
  return current_isa() >= Isa::avx2 ? block_avx2 : block_base;
}
#else
auto best_block() { return block_base; }
#endif

struct Coefficients {
  double s = 0, t = 0;
};

// s and t from pairs of doubles, u = 2^-53. Float parameters keep all of it far from underflow.
//
// Sum: variance + epsilon = v + v_low exactly.
//
// Root: r = RN(sqrt(v)), and an fma gives v - r^2 exactly; r_low = ((v - r^2) + v_low) / 2r, at
// most 2 u r. Newton's rest is 2 u^2 r, the sum and the quotient round by 2 u^2 r each: 6 u^2 r.
//
// s*: q = RN(scale / r), and an fma gives scale - q r exactly; q_low = ((scale - q r) - q r_low) /
// r, at most 3 u |q|. Its roundings make 8 u^2 |q|, the divisor r for r + r_low 6 u^2 |q|, the root
// 6 u^2 |q|: s + s_low is within 21 u^2 |s*| of s*.
//
// t*: mean s = p + p_low and bias - p = t_high + t_low exactly; the rest is summed in double.
// Before t is rounded that is within 32 u^2 (|bias| + |p|) of t*. Where |t| > 2^-40 (|bias| + |p|)
// (the result says so), t is off by u |t| (1 + 2^-7).
bool quick_coefficients(const BatchNormParameters& p, Coefficients& c) {
  const double scale = p.scale, bias = p.bias, mean = p.mean;
  double v_low = 0;
  const double v = qd::two_sum(p.variance, p.epsilon, v_low);
  const double r = std::sqrt(v), r_low = (std::fma(-r, r, v) + v_low) / (2 * r);
  const double q = scale / r, q_low = (std::fma(-q, r, scale) - q * r_low) / r;
  c.s = q + q_low;
  const double s_low = q_low - (c.s - q);
  const double product = mean * c.s, p_low = std::fma(mean, c.s, -product) + mean * s_low;
  double t_low = 0;
  const double t_high = qd::two_sum(bias, -product, t_low);
  c.t = t_high + (t_low - p_low);
  return scale != 0 && std::fabs(c.t) > 0x1p-40 * (std::fabs(bias) + std::fabs(product));
}

// 1000 bits hold every intermediate exactly or leave an error far below the 2^-60 of s and t.
constexpr mpfr_prec_t kWide = 1000;

Coefficients wide_coefficients(const BatchNormParameters& p) {
  Mpfr scale(kWide, static_cast<double>(p.variance));
  mpfr_add_d(scale, scale, static_cast<double>(p.epsilon), MPFR_RNDN);
  mpfr_sqrt(scale, scale, MPFR_RNDN);
  mpfr_d_div(scale, static_cast<double>(p.scale), scale, MPFR_RNDN);
  Mpfr shift(kWide);
  mpfr_mul_d(shift, scale, static_cast<double>(p.mean), MPFR_RNDN);
  mpfr_d_sub(shift, static_cast<double>(p.bias), shift, MPFR_RNDN);
  return {mpfr_get_d(scale, MPFR_RNDN), mpfr_get_d(shift, MPFR_RNDN)};
}

float canonical(double value) {
  return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
}

}  // namespace

BatchNormChannel::BatchNormChannel(const BatchNormParameters& p) : parameters_(p) {
  const double spread = static_cast<double>(p.variance) + static_cast<double>(p.epsilon);
  regular_ = std::isfinite(p.scale) && std::isfinite(p.bias) && std::isfinite(p.mean) &&
             std::isfinite(spread) && spread > 0;
  if (!regular_) return;
  Coefficients c;
  if (!quick_coefficients(p, c)) c = wide_coefficients(p);
  scale_ = c.s;
  shift_ = c.t;
}

void BatchNormChannel::operator()(std::span<const float> x, std::span<float> y) const {
  assert(x.size() == y.size());
  if (!regular_) {
    std::transform(x.begin(), x.end(), y.begin(), [this](float v) { return slow(v); });
    return;
  }
  const auto run = best_block();
  float out[kBlock];
  std::int32_t undecided[kBlock];
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - begin), whole = n / kPart * kPart;
    const float* in = x.data() + begin;
    bool any = run(scale_, shift_, in, out, whole, undecided);
    if (whole < n) {
      float rest[kPart] = {};
      std::copy(in + whole, in + n, rest);
      any = run(scale_, shift_, rest, out + whole, kPart, undecided + whole) || any;
    }
    if (any) {
      for (std::size_t i = 0; i < n; ++i) {
        if (undecided[i] != 0) out[i] = slow(in[i]);
      }
    }
    // y may be the memory of x: it is written when the block is done.
    std::copy_n(out, n, y.data() + begin);
  }
}

float BatchNormChannel::operator()(float x) const {
  float y = 0;
  (*this)(std::span<const float>(&x, 1), std::span<float>(&y, 1));
  return y;
}

float BatchNormChannel::slow(float x) const {
  const BatchNormParameters& p = parameters_;
  const double spread = static_cast<double>(p.variance) + static_cast<double>(p.epsilon);
  const double centred = static_cast<double>(x) - static_cast<double>(p.mean);
  if (!regular_ || !std::isfinite(x) || centred == 0 || p.scale == 0) {
    // IEEE arithmetic decides infinities, NaN and the sign of zeros; what is finite here is bias
    // plus a zero.
    return canonical(centred / std::sqrt(spread) * static_cast<double>(p.scale) +
                     static_cast<double>(p.bias));
  }
  Mpfr a(kExactRow, static_cast<double>(x));
  mpfr_sub_d(a, a, static_cast<double>(p.mean), MPFR_RNDN);
  mpfr_mul_d(a, a, static_cast<double>(p.scale), MPFR_RNDN);
  Mpfr d(kExactRow, static_cast<double>(p.variance));
  mpfr_add_d(d, d, static_cast<double>(p.epsilon), MPFR_RNDN);
  return round_tailed<float>(exact_normalized(a, d, static_cast<double>(p.bias)));
}

}  // namespace assay
