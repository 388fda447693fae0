// percentile: drops the rarest values at both ends.
//
//   high = the lowest bin edge h with  count(x < h) >= p/100 * total   (at most the maximum)
//   low  = the highest bin edge l with count(x >= l) >= p/100 * total  (at least the minimum)
// Edges are exact, so the resolution is one bin: at most max|x| / 2048 with the default capacity.
#include "quant/algorithm.h"

namespace assay::percentile_algorithm {
namespace {

Range choose(const StreamingHistogram& h, const AlgorithmOptions& options) {
  const auto bins = h.bins();
  const Range range = *h.range();
  // Rounded up by a hair too little rather than too much: 99.9 % of 1000 values are 999.
  const double wanted = options.percentile / 100 * static_cast<double>(h.count()) * (1 - 0x1p-50);
  Range r = range;
  std::int64_t seen = 0;
  for (const Bin& b : bins) {
    seen += b.count;
    if (static_cast<double>(seen) < wanted) continue;
    r.high = std::min(range.high, static_cast<float>(b.high));
    break;
  }
  seen = 0;
  for (auto b = bins.rbegin(); b != bins.rend(); ++b) {
    seen += b->count;
    if (static_cast<double>(seen) < wanted) continue;
    r.low = std::max(range.low, static_cast<float>(b->low));
    break;
  }
  return r;
}

const RegisterAlgorithm registered{
    {.name = "percentile", .summary = "drops the rarest values at both ends", .choose = choose}};

}  // namespace
}  // namespace assay::percentile_algorithm
