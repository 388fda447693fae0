#include "validation/bench/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.h"

namespace assay::bench {
namespace {

/// Largest k with P(binomial(n, 1/2) < k) <= 0.025, the sum taken term by term in logarithms.
std::int64_t interval_rank(std::int64_t n) {
  double below = 0;
  std::int64_t k = 0;
  const double total =
      std::lgamma(static_cast<double>(n) + 1) - static_cast<double>(n) * std::log(2.0);
  while (k < n / 2) {
    const auto x = static_cast<double>(k);
    const double term =
        std::exp(total - std::lgamma(x + 1) - std::lgamma(static_cast<double>(n) - x + 1));
    if (below + term > 0.025) break;
    below += term;
    ++k;
  }
  return k;
}

double half_width(const LatencySummary& s) {
  return s.median > 0 ? (s.high - s.low) / 2 / s.median : 0;
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  ASSAY_ASSERT(!sorted.empty());
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : quantile(samples, 0.5);
}

LatencySummary summarize(std::vector<double> v) {
  ASSAY_ASSERT(!v.empty());
  std::sort(v.begin(), v.end());
  LatencySummary s;
  s.samples = static_cast<std::int64_t>(v.size());
  s.min = v.front();
  s.median = quantile(v, 0.5);
  s.p90 = quantile(v, 0.9);
  s.p99 = quantile(v, 0.99);
  s.mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  const auto k = static_cast<std::size_t>(std::max<std::int64_t>(1, interval_rank(s.samples)));
  s.low = v[k - 1];
  s.high = v[v.size() - k];
  return s;
}

Regression compare_latency(const LatencySummary& now, const LatencySummary& before,
                           double tolerance) {
  Regression r;
  r.ratio = before.median > 0 ? now.median / before.median : 1;
  r.allowed = 1 + tolerance + half_width(now) + half_width(before);
  r.slower = r.ratio > r.allowed;
  return r;
}

}  // namespace assay::bench
