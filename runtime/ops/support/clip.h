// The limits of Clip, shared by Clip and the fused operators.
//
//   y = min(max(x, low), high); an absent limit does not limit. high wins when low > high. A NaN is
//   passed on, and -0 between the limits stays -0.
#pragma once

#include "runtime/ops/support/scalar.h"

namespace assay::ops {

template <class T>
struct ClipLimits {
  bool has_low = false;
  bool has_high = false;
  T low = T(0.0F);
  T high = T(0.0F);
};

template <class T>
T clip(const T& x, const ClipLimits<T>& limits) {
  T y = x;
  if (limits.has_low && load<T>(y) < load<T>(limits.low)) y = limits.low;
  if (limits.has_high && load<T>(y) > load<T>(limits.high)) y = limits.high;
  return y;
}

}  // namespace assay::ops
