#include "validation/paired_test.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// Two-sided exact binomial test of k successes in n trials at probability 1/2.
double binomial_p(std::int64_t k, std::int64_t n) {
  if (n == 0) return 1;
  const std::int64_t low = std::min(k, n - k);
  double term = std::pow(0.5, static_cast<double>(n));
  if (term == 0) {  // far beyond 1000 discordant pairs: the normal approximation is exact to all
                    // printed digits
    const double z = (std::fabs(2.0 * static_cast<double>(k) - static_cast<double>(n)) - 1) /
                     std::sqrt(static_cast<double>(n));
    return std::erfc(std::max(z, 0.0) / std::sqrt(2.0));
  }
  double sum = 0;
  for (std::int64_t i = 0; i <= low; ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return std::min(1.0, 2 * sum);
}

/// Quantile of the standard normal distribution by bisection on erfc; 60 halvings reach double
/// precision.
double normal_quantile(double p) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 80; ++i) {
    const double mid = (low + high) / 2;
    (0.5 * std::erfc(-mid / std::sqrt(2.0)) < p ? low : high) = mid;
  }
  return (low + high) / 2;
}

}  // namespace

PairedTest paired_test(std::int64_t samples, std::int64_t only_first, std::int64_t only_second,
                       double confidence) {
  PairedTest t{.samples = samples, .only_first = only_first, .only_second = only_second};
  if (samples == 0) return t;
  t.drop = static_cast<double>(only_first - only_second) / static_cast<double>(samples);
  t.p_value = binomial_p(only_first, only_first + only_second);
  const double n = static_cast<double>(samples) + 2;
  const double b = static_cast<double>(only_first) + 0.5;
  const double c = static_cast<double>(only_second) + 0.5;
  const double center = (b - c) / n;
  const double se = std::sqrt(b + c - (b - c) * (b - c) / n) / n;
  const double half = normal_quantile(0.5 + confidence / 2) * se;
  t.low = std::max(-1.0, center - half);
  t.high = std::min(1.0, center + half);
  t.resolution = half;
  return t;
}

}  // namespace assay
