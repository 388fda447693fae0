#include "validation/certificate/difference.h"

#include <algorithm>
#include <cmath>

#include "runtime/numeric/float_ulp.h"

namespace assay {

void Difference::merge(const Difference& o) {
  max_abs = std::max(max_abs, o.max_abs);
  max_ulp = std::max(max_ulp, o.max_ulp);
  nonfinite += o.nonfinite;
  if (o.usage <= usage) return;
  usage = o.usage;
  at = o.at;
}

Difference difference(const Tensor& a, const Tensor& b, const std::vector<double>& bound) {
  Difference d;
  const auto x = to_doubles(a);
  const auto y = to_doubles(b);
  const auto gaps = gap(a, b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      d.nonfinite += std::isfinite(x[i]) != std::isfinite(y[i]);
      continue;
    }
    const double off = gaps[i];
    if (off == 0) continue;
    d.max_abs = std::max(d.max_abs, off);
    d.max_ulp = std::max(d.max_ulp, off / float_ulp(x[i]));
    const double usage = bound[i] > 0 ? off / bound[i] : INFINITY;
    if (usage <= d.usage) continue;
    d.usage = usage;
    d.at = static_cast<std::int64_t>(i);
  }
  return d;
}

std::vector<double> sum_of(const std::vector<std::vector<double>>& parts) {
  std::vector<double> total = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += parts[p][i];
  }
  for (double& x : total) x *= 1 + 0x1p-40;
  return total;
}

namespace {

/// a - b of double-double tensors, which doubles could not hold.
std::vector<double> exact_gap(const Tensor& a, const Tensor& b) {
  const auto x = a.data<dd>();
  const auto y = b.data<dd>();
  std::vector<double> d;
  for (std::size_t i = 0; i < x.size(); ++i) d.push_back(std::fabs(dd_hi(x[i] - y[i])));
  return d;
}

}  // namespace

std::vector<double> gap(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::dd && b.dtype() == DType::dd) return exact_gap(a, b);
  auto x = to_doubles(a);
  const auto y = to_doubles(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::fabs(x[i] - y[i]);
  return x;
}

double relative_distance(const Tensor& a, const Tensor& b) {
  const auto x = a.data<float>();
  const auto y = b.data<float>();
  double off = 0;
  double size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    off += d * d;
    size += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  }
  if (!std::isfinite(off) || !std::isfinite(size)) return INFINITY;
  return off == 0 ? 0 : std::sqrt(off / std::max(size, 1e-300));
}

}  // namespace assay
