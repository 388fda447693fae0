// BatchNormalization of one channel, correctly rounded: y = (x - mean) / sqrt(variance + epsilon) *
// scale + bias.
//
// s* = scale / sqrt(variance + epsilon) and t* = bias - mean s* are rounded once to double (MPFR),
// s and t. Per element y = x s + t in double: |y - exact| <= u (|x s| + |x s| + |t| + |y|) for s,
// the product, t and the sum, where |y| <=
// (|x s| + |t|)(1 + u). With the rounding of the interval's ends that is below 5 u (|x s| + |t|),
// the error used. Exact ties are decided by exact_normalized: a = (x - mean) scale, d = variance +
// epsilon.

#include <algorithm>
#include <cassert>

#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_exact.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

constexpr std::size_t kBlock = 64;
constexpr double kError = 5 * 0x1p-53;

ASSAY_CORE bool block(double scale, double shift, const float* __restrict x, float* __restrict y,
                      std::int32_t* __restrict undecided) {
  const double fixed = kError * std::fabs(shift);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double product = static_cast<double>(x[i]) * scale;
    const double value = product + shift;
    const double error = kError * core::magnitude(product) + fixed;
    const auto low = static_cast<float>(value - error);
    const auto high = static_cast<float>(value + error);
    y[i] = low;
    undecided[i] = low == high ? 0 : 1;
  }
  std::int32_t any = 0;
  for (std::size_t i = 0; i < kBlock; ++i) any |= undecided[i];
  return any != 0;
}

bool block_base(double scale, double shift, const float* x, float* y, std::int32_t* undecided) {
  return block(scale, shift, x, y, undecided);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] bool block_avx2(double scale, double shift, const float* x, float* y,
                                        std::int32_t* undecided) {
  return block(scale, shift, x, y, undecided);
}
#else
bool block_avx2(double scale, double shift, const float* x, float* y, std::int32_t* undecided) {
  return block(scale, shift, x, y, undecided);
}
#endif

// mean, variance and the rest may cancel or span float's whole range: 1000 bits hold every
// intermediate exactly or leave an error far below the 2^-60 of s and t that the bound allows.
constexpr mpfr_prec_t kWide = 1000;

float canonical(double value) {
  return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
}

}  // namespace

BatchNormChannel::BatchNormChannel(const BatchNormParameters& p) : parameters_(p) {
  const double spread = static_cast<double>(p.variance) + static_cast<double>(p.epsilon);
  regular_ = std::isfinite(p.scale) && std::isfinite(p.bias) && std::isfinite(p.mean) &&
             std::isfinite(spread) && spread > 0;
  if (!regular_) return;
  Mpfr scale(kWide, static_cast<double>(p.variance));
  mpfr_add_d(scale, scale, static_cast<double>(p.epsilon), MPFR_RNDN);
  mpfr_sqrt(scale, scale, MPFR_RNDN);
  mpfr_d_div(scale, static_cast<double>(p.scale), scale, MPFR_RNDN);
  scale_ = mpfr_get_d(scale, MPFR_RNDN);
  Mpfr shift(kWide);
  mpfr_mul_d(shift, scale, static_cast<double>(p.mean), MPFR_RNDN);
  mpfr_d_sub(shift, static_cast<double>(p.bias), shift, MPFR_RNDN);
  shift_ = mpfr_get_d(shift, MPFR_RNDN);
}

void BatchNormChannel::operator()(std::span<const float> x, std::span<float> y) const {
  assert(x.size() == y.size());
  if (!regular_) {
    std::transform(x.begin(), x.end(), y.begin(), [this](float v) { return slow(v); });
    return;
  }
  const auto run = current_isa() >= Isa::avx2 ? block_avx2 : block_base;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - begin);
    float in[kBlock] = {};
    float out[kBlock];
    std::int32_t undecided[kBlock];
    std::copy_n(x.data() + begin, n, in);
    if (run(scale_, shift_, in, out, undecided)) {
      for (std::size_t i = 0; i < n; ++i) {
        if (undecided[i] != 0) out[i] = slow(in[i]);
      }
    }
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
