// Carry settling and rounding of the long accumulator (see exact_accumulator.h for the format).

#include "runtime/numeric/exact_accumulator.h"

#include <bit>
#include <limits>
#include <vector>

namespace assay::exact {
namespace {

__extension__ using Wide = unsigned __int128;

// Little-endian 32-bit digits of the non-negative number that is rounded.
using Digits = std::vector<std::uint32_t>;

struct Quotient {
  Digits digits;
  bool remainder;
};

// Long division. Three digits below the last one keep 53 significant bits of the quotient of any
// dividend by a divisor of at most 62 bits whatever the dividend's lowest bit is: 62 + 53 < 4 * 32,
// and the four digits are `kExtra`.
constexpr int kExtra = 4;

Quotient divide(std::span<const std::int64_t> limbs, std::int64_t divisor) {
  const std::size_t extra = divisor == 1 ? 0 : kExtra;
  Quotient result{Digits(limbs.size() + extra), false};
  Wide rest = 0;
  const auto by = static_cast<Wide>(divisor);
  for (std::size_t i = result.digits.size(); i-- > 0;) {
    const std::uint32_t digit = i < extra ? 0 : static_cast<std::uint32_t>(limbs[i - extra]);
    rest = (rest << 32) | digit;
    result.digits[i] = static_cast<std::uint32_t>(rest / by);
    rest %= by;
  }
  result.remainder = rest != 0;
  return result;
}

int highest_bit(const Digits& digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != 0) return static_cast<int>(i) * 32 + std::bit_width(digits[i]) - 1;
  }
  return -1;
}

bool bit(const Digits& digits, int position) {
  return position >= 0 &&
         ((digits[static_cast<std::size_t>(position) / 32] >> (position % 32)) & 1U);
}

bool any_below(const Digits& digits, int position) {
  for (int i = 0; i < position / 32; ++i) {
    if (digits[static_cast<std::size_t>(i)] != 0) return true;
  }
  const int rest = position % 32;
  return rest > 0 &&
         (digits[static_cast<std::size_t>(position) / 32] & ((std::uint32_t{1} << rest) - 1)) != 0;
}

}  // namespace

int settle(std::span<std::int64_t> limbs) {
  std::int64_t carry = 0;
  bool nonzero = false;
  for (std::size_t i = 0; i + 1 < limbs.size(); ++i) {
    // A limb is below 2^63 - 2^32 in magnitude and the carry below 2^31, so the sum cannot
    // overflow.
    const std::int64_t sum = limbs[i] + carry;
    limbs[i] = sum & 0xFFFFFFFF;
    carry = sum >> 32;
    nonzero = nonzero || limbs[i] != 0;
  }
  limbs.back() += carry;
  if (limbs.back() < 0) return -1;
  return nonzero || limbs.back() != 0 ? 1 : 0;
}

void negate(std::span<std::int64_t> limbs) {
  for (auto& limb : limbs) limb = -limb;
  settle(limbs);
}

double round(std::span<const std::int64_t> limbs, int low_exponent, const BinaryFormat& format,
             std::int64_t divisor) {
  assert(divisor >= 1 && divisor <= (std::int64_t{1} << 62));
  assert(limbs.back() >= 0 && limbs.back() <= 0xFFFFFFFF);
  const Quotient quotient = divide(limbs, divisor);
  const int base = divisor == 1 ? low_exponent : low_exponent - 32 * kExtra;
  const int top = highest_bit(quotient.digits);
  if (top < 0) {
    // The whole quotient lies below the lowest digit, which is far below half the least subnormal.
    return 0.0;
  }
  const int lowest = std::max(base + top - format.precision + 1, format.low_exponent);
  const int first = lowest - base;
  std::uint64_t mantissa = 0;
  for (int position = top; position >= std::min(first, 0); --position) {
    if (position < first) break;
    mantissa = (mantissa << 1) | (bit(quotient.digits, position) ? 1U : 0U);
  }
  if (first > 0 && bit(quotient.digits, first - 1)) {
    const bool above = quotient.remainder || any_below(quotient.digits, first - 1);
    if (above || (mantissa & 1U) != 0) ++mantissa;
  }
  const double value = std::ldexp(static_cast<double>(mantissa), lowest);
  const double limit = std::ldexp(1.0, format.overflow_exponent - 1);
  return value / 2 >= limit ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace assay::exact
