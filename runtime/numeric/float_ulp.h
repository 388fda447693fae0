// Distance between neighbouring float32 numbers.
#pragma once

#include <cmath>

namespace assay {

/// ulp(x): the spacing of float32 numbers in the binade of the real number |x|: 2^-149 around zero,
/// 2^104 from the largest float32 upwards, infinities included. NaN for NaN.
inline double float_ulp(double x) {
  const double size = std::fabs(x);
  if (size < 0x1p-126) return 0x1p-149;
  if (std::isnan(x)) return x;
  return size >= 0x1p127 ? 0x1p104 : std::ldexp(1.0, std::ilogb(size) - 23);
}

}  // namespace assay
