#include "runtime/ops/support/truncate.h"

#include <cmath>

namespace assay::ops {
namespace {

/// hi carries the sign; where it is an integer the rest decides.
dd truncated(const dd& v) {
  const double hi = dd_hi(v);
  if (!(std::trunc(hi) == hi)) return dd(std::trunc(hi), 0.0);
  const double lo = hi < 0.0 ? std::ceil(dd_lo(v)) : std::floor(dd_lo(v));
  return lo == 0.0 || !std::isfinite(hi) ? dd(hi, 0.0) : dd(hi + lo, 0.0);
}

}  // namespace

Tensor truncating_convert(const Tensor& t, DType to) {
  if (!is_float(t.dtype()) || !is_integer(to)) return convert(t, to);
  Tensor whole = t.dtype() == DType::dd ? t.clone() : convert(t, DType::float64);
  if (whole.memory() == t.memory()) whole = t.clone();
  if (whole.dtype() == DType::dd) {
    for (dd& v : whole.mutable_data<dd>()) v = truncated(v);
  } else {
    for (double& v : whole.mutable_data<double>()) v = std::trunc(v);
  }
  return convert(whole, to);
}

}  // namespace assay::ops
