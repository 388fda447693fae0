#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// Storage types of IEEE binary16 and of bfloat16, with conversions that round once, to nearest
// even.
//
// Narrowing works on the bits of the double, so that double -> Half never passes through float (two
// roundings differ from one). Overflow gives an infinity, subnormals are kept. A NaN made by
// arithmetic is the canonical quiet NaN with a clear sign; the conversions keep no payload.

namespace assay {

namespace half_detail {

// Rounds `value` to a format of `Mantissa` stored bits and `Exponent` exponent bits.
template <int Mantissa, int Exponent>
constexpr std::uint16_t narrow(double value) {
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint16_t kInfinity = ((1U << Exponent) - 1) << Mantissa;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << (Mantissa + Exponent));
  const int field = static_cast<int>(bits >> 52) & 0x7FF;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (field == 0x7FF) {
    if (fraction != 0) return static_cast<std::uint16_t>(kInfinity | (1U << (Mantissa - 1)));
    return static_cast<std::uint16_t>(sign | kInfinity);
  }
  const int exponent = field - 1023;
  if (exponent > kBias) return static_cast<std::uint16_t>(sign | kInfinity);
  // Doubles below the normal doubles lie far below half the least subnormal of both formats.
  if (exponent < 1 - kBias - Mantissa - 1) return sign;
  const bool normal = exponent >= 1 - kBias;
  const int drop = 52 - Mantissa + (normal ? 0 : 1 - kBias - exponent);
  const std::uint64_t mantissa = fraction | (std::uint64_t{1} << 52);
  std::uint64_t kept = mantissa >> drop;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && (kept & 1U) != 0)) ++kept;
  // A carry out of the mantissa steps to the next exponent, and from the last one to infinity.
  if (normal) kept += static_cast<std::uint64_t>(exponent + kBias - 1) << Mantissa;
  return static_cast<std::uint16_t>(sign | kept);
}

// Exact for every value; a NaN gives the canonical float NaN.
template <int Mantissa, int Exponent>
constexpr double widen(std::uint16_t bits) {
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  const bool negative = (bits >> (Mantissa + Exponent)) != 0;
  const int field = (bits >> Mantissa) & ((1 << Exponent) - 1);
  const int fraction = bits & ((1 << Mantissa) - 1);
  if (field == (1 << Exponent) - 1) {
    if (fraction != 0) return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  const int mantissa = field == 0 ? fraction : fraction | (1 << Mantissa);
  const int exponent = (field == 0 ? 1 : field) - kBias - Mantissa;
  const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  const double magnitude = mantissa * power;
  return negative ? -magnitude : magnitude;
}

}  // namespace half_detail

// IEEE binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  constexpr explicit Half(double value) : bits(half_detail::narrow<10, 5>(value)) {}
  constexpr explicit Half(float value) : Half(static_cast<double>(value)) {}
  static constexpr Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
  constexpr explicit operator double() const { return half_detail::widen<10, 5>(bits); }
  constexpr explicit operator float() const { return static_cast<float>(double(*this)); }
  constexpr bool operator==(const Half& other) const { return double(*this) == double(other); }
};

// bfloat16: 1 sign, 8 exponent, 7 fraction bits.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(double value) : bits(half_detail::narrow<7, 8>(value)) {}
  constexpr explicit BFloat16(float value) : BFloat16(static_cast<double>(value)) {}
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 half;
    half.bits = bits;
    return half;
  }
  constexpr explicit operator double() const { return half_detail::widen<7, 8>(bits); }
  constexpr explicit operator float() const { return static_cast<float>(double(*this)); }
  constexpr bool operator==(const BFloat16& other) const { return double(*this) == double(other); }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace assay
