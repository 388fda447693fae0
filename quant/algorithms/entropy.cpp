// entropy: the magnitude limit whose quantized distribution is closest to the original (least
// Kullback-Leibler divergence), as in the TensorRT calibrator's published description.
//
// Magnitudes are counted in n bins. For every limit of i bins, i = levels, levels + 8, ..., n:
//   P = counts of the first i bins, everything beyond added to the last;
//   Q = the same bins merged into `levels` groups, each group's count spread evenly over its
//   non-empty bins; divergence = sum P/|P| * ln((P/|P|) / (Q/|Q|)).
// levels is 128 for signed codes and 256 for unsigned ones. Q misses the clipped values, which is
// what the divergence charges for clipping.
#include "quant/algorithm.h"

namespace assay::entropy_algorithm {
namespace {

std::vector<double> magnitudes(const std::vector<Bin>& bins, double width) {
  std::vector<double> counts;
  for (const Bin& b : bins) {
    const double m = std::abs(b.middle());
    const auto k = static_cast<std::size_t>(m / width);
    if (counts.size() <= k) counts.resize(k + 1);
    counts[k] += static_cast<double>(b.count);
  }
  return counts;
}

/// Counts of [0, limit) merged into `levels` groups and spread again.
std::vector<double> spread(const std::vector<double>& counts, std::size_t limit,
                           std::size_t levels) {
  std::vector<double> q(limit);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t first = level * limit / levels, last = (level + 1) * limit / levels;
    double sum = 0, used = 0;
    for (std::size_t k = first; k < last; ++k) {
      sum += counts[k];
      used += counts[k] != 0;
    }
    for (std::size_t k = first; k < last; ++k) q[k] = counts[k] != 0 ? sum / used : 0;
  }
  return q;
}

double divergence(const std::vector<double>& counts, std::size_t limit, std::size_t levels) {
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(limit));
  for (std::size_t k = limit; k < counts.size(); ++k) p.back() += counts[k];
  const auto q = spread(counts, limit, levels);
  double p_sum = 0, q_sum = 0;
  for (std::size_t k = 0; k < limit; ++k) {
    p_sum += p[k];
    q_sum += q[k];
  }
  double d = 0;
  for (std::size_t k = 0; k < limit; ++k) {
    if (p[k] == 0) continue;
    // A last bin that holds only clipped values has no share in Q: it costs as if one count were
    // there.
    const double share = q[k] > 0 ? q[k] / q_sum : 1 / p_sum;
    d += p[k] / p_sum * std::log(p[k] / p_sum / share);
  }
  return d;
}

Range choose(const StreamingHistogram& h, const AlgorithmOptions& options) {
  const Range range = *h.range();
  const auto bins = h.bins();
  const double width = bins.front().high - bins.front().low;
  if (width == 0) return range;
  const auto counts = magnitudes(bins, width);
  const bool is_signed = range.low < 0 || options.scheme == ActivationScheme::s8;
  const std::size_t levels = is_signed ? 128 : 256;
  std::size_t best = counts.size();
  double least = HUGE_VAL;
  for (std::size_t i = levels; i <= counts.size(); i += 8) {
    const double d = divergence(counts, i, levels);
    if (d < least) {
      least = d;
      best = i;
    }
  }
  const auto limit = static_cast<float>(static_cast<double>(best) * width);
  return {std::max(range.low, -limit), std::min(range.high, limit)};
}

const RegisterAlgorithm registered{
    {.name = "entropy", .summary = "least Kullback-Leibler divergence", .choose = choose}};

}  // namespace
}  // namespace assay::entropy_algorithm
