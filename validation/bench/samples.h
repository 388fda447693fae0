// What a list of latencies says: order statistics, and an interval for the median that assumes no
// distribution.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::bench {

struct LatencySummary {
  std::int64_t samples = 0;
  double min = 0, median = 0, p90 = 0, p99 = 0, mean = 0;
  double low = 0, high = 0;  ///< 95 % interval of the median
};

/// Milliseconds in, milliseconds out. The interval is [x_(k), x_(n+1-k)] with the largest k for
/// which a binomial(n, 1/2) count falls below k with probability at most 2.5 % (Conover, Practical
/// Nonparametric Statistics); with fewer than 6 samples it is [min, max]. `samples` must not be
/// empty.
LatencySummary summarize(std::vector<double> samples);

/// Linear interpolation between order statistics; `share` in [0, 1]. `sorted` ascending, not empty.
double quantile(const std::vector<double>& sorted, double share);

/// Quantile 0.5 in any order; 0 of nothing.
double median_of(std::vector<double> samples);

/// How a new run compares with an old one.
struct Regression {
  bool slower = false;
  double ratio = 1;    ///< new median over old
  double allowed = 1;  ///< what the ratio may reach: 1 + tolerance + both half intervals, relative
                       ///< to their medians
};
Regression compare_latency(const LatencySummary& now, const LatencySummary& before,
                           double tolerance);

}  // namespace assay::bench
