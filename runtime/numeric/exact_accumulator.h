#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <span>

#include "runtime/numeric/half.h"

// A fixed-point number wide enough that sums of products never round (Kulisch's long accumulator).
//
// The value is  sum_i limb[i] * 2^(LowExponent + 32 i).  Each limb is a signed 64-bit integer that
// receives 32-bit digits, so that an addition touches three limbs and carries are settled only once
// in 2^30 additions. Because nothing is lost, the order of additions does not matter.
//
// The sign of an exact zero is not stored: the caller applies its operator's rule.

namespace assay {

// Precision in bits, exponent of the lowest subnormal bit, first exponent that overflows.
struct BinaryFormat {
  int precision;
  int low_exponent;
  int overflow_exponent;
};
inline constexpr BinaryFormat kDoubleFormat{53, -1074, 1024};
inline constexpr BinaryFormat kFloatFormat{24, -149, 128};
inline constexpr BinaryFormat kHalfFormat{11, -24, 16};
inline constexpr BinaryFormat kBFloat16Format{8, -133, 128};

namespace exact {

// Propagates carries so that every limb but the last lies in [0, 2^32); returns the sign (-1, 0,
// 1).
int settle(std::span<std::int64_t> limbs);
// Negates settled limbs and settles again.
void negate(std::span<std::int64_t> limbs);
// Rounds the non-negative settled limbs / divisor to nearest even. `divisor` is in [1, 2^62].
double round(std::span<const std::int64_t> limbs, int low_exponent, const BinaryFormat& format,
             std::int64_t divisor);

}  // namespace exact

template <int LowExponent, int Limbs>
class ExactAccumulator {
 public:
  static constexpr int kLowExponent = LowExponent;
  static constexpr int kLimbs = Limbs;

  void clear() { *this = ExactAccumulator(); }

  // Adds a finite value whose bits all weigh at least 2^LowExponent.
  void add(double value) { add_scaled(value, false); }
  void subtract(double value) { add_scaled(value, true); }

  // The product of two floats is exact in double: 48 bits, exponent within -298..255.
  void add_product(float a, float b) { add(static_cast<double>(a) * static_cast<double>(b)); }
  void subtract_product(float a, float b) {
    subtract(static_cast<double>(a) * static_cast<double>(b));
  }
  // Any two finite doubles whose product's bits weigh at least 2^LowExponent.
  void add_product(double a, double b) { add_wide_product(a, b, false); }
  void subtract_product(double a, double b) { add_wide_product(a, b, true); }

  void add(const ExactAccumulator& other) { merge(other, false); }
  void subtract(const ExactAccumulator& other) { merge(other, true); }

  // Multiplies by an integer of at most 31 bits; the caller knows that the product still fits.
  void multiply(std::int32_t factor) {
    settle();
    for (auto& limb : limbs_) limb *= factor;
    settle();
  }

  // -1, 0 or 1.
  int sign() const { return ExactAccumulator(*this).settle(); }
  bool is_zero() const { return sign() == 0; }

  double round_to_double() const { return round(kDoubleFormat, 1); }
  float round_to_float() const { return static_cast<float>(round(kFloatFormat, 1)); }
  Half round_to_half() const { return Half(round(kHalfFormat, 1)); }
  BFloat16 round_to_bfloat16() const { return BFloat16(round(kBFloat16Format, 1)); }

  // Rounds the exact quotient by an integer in [1, 2^62] once, to nearest even; overflow gives an
  // infinity. The result is a double that the format can hold.
  double round(const BinaryFormat& format, std::int64_t divisor) const {
    ExactAccumulator copy(*this);
    const int sign = copy.settle();
    if (sign < 0) exact::negate(copy.limbs_);
    const double magnitude = exact::round(copy.limbs_, LowExponent, format, divisor);
    return sign < 0 ? -magnitude : magnitude;
  }
  float round_quotient_to_float(std::int64_t divisor) const {
    return static_cast<float>(round(kFloatFormat, divisor));
  }

  // The limbs after settling: digits in [0, 2^32) below a signed top limb.
  std::array<std::int64_t, Limbs> settled_limbs() const {
    ExactAccumulator copy(*this);
    copy.settle();
    return copy.limbs_;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct Parts {
    std::uint64_t mantissa;
    int exponent;
    bool negative;
  };

  static Parts split(double value) {
    assert(std::isfinite(value));
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int field = static_cast<int>(bits >> 52) & 0x7FF;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    return {.mantissa = field == 0 ? fraction : fraction | (std::uint64_t{1} << 52),
            .exponent = (field == 0 ? 1 : field) - 1075,
            .negative = (bits >> 63) != 0};
  }

  void add_scaled(double value, bool negate) {
    const Parts parts = split(value);
    if (parts.mantissa == 0) return;
    int position = parts.exponent - LowExponent;
    std::uint64_t mantissa = parts.mantissa;
    if (position < 0) {
      assert(position > -53 && (mantissa & ((std::uint64_t{1} << -position) - 1)) == 0);
      mantissa >>= -position;
      position = 0;
    }
    add_digits(mantissa, position, parts.negative != negate);
  }

  void add_wide_product(double a, double b, bool negate) {
    const Parts pa = split(a);
    const Parts pb = split(b);
    if (pa.mantissa == 0 || pb.mantissa == 0) return;
    Wide product = static_cast<Wide>(pa.mantissa) * pb.mantissa;
    int position = pa.exponent + pb.exponent - LowExponent;
    if (position < 0) {
      assert(position > -106 && (product & ((Wide{1} << -position) - 1)) == 0);
      product >>= -position;
      position = 0;
    }
    const bool negative = (pa.negative != pb.negative) != negate;
    add_digits(static_cast<std::uint64_t>(product), position, negative);
    const auto high = static_cast<std::uint64_t>(product >> 64);
    if (high != 0) add_digits(high, position + 64, negative);
  }

  void add_digits(std::uint64_t mantissa, int position, bool negative) {
    const int index = position >> 5;
    const int shift = position & 31;
    assert(index + 2 < Limbs);
    const std::uint64_t low = mantissa << shift;
    const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
    const std::int64_t sign = negative ? -1 : 1;
    limbs_[static_cast<std::size_t>(index)] += sign * static_cast<std::int64_t>(low & 0xFFFFFFFFU);
    limbs_[static_cast<std::size_t>(index) + 1] += sign * static_cast<std::int64_t>(low >> 32);
    limbs_[static_cast<std::size_t>(index) + 2] += sign * static_cast<std::int64_t>(high);
    if (++pending_ == kPendingLimit) settle();
  }

  void merge(const ExactAccumulator& other, bool negate) {
    ExactAccumulator term(other);
    term.settle();
    settle();
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      limbs_[i] += negate ? -term.limbs_[i] : term.limbs_[i];
    }
    settle();
  }

  int settle() {
    pending_ = 0;
    return exact::settle(limbs_);
  }

  // 2^30 additions of digits below 2^32 keep every limb below 2^63.
  static constexpr std::int32_t kPendingLimit = 1 << 30;
  std::array<std::int64_t, Limbs> limbs_{};
  std::int32_t pending_ = 0;
};

// Sums of up to 2^40 products of two floats (and single floats): 2^-298 .. 2^(256+40).
using FloatAccumulator = ExactAccumulator<-320, 20>;
// Sums of up to 2^40 products of two doubles (and single doubles): 2^-2148 .. 2^(2048+40).
using DoubleAccumulator = ExactAccumulator<-2176, 135>;

}  // namespace assay
