// Did accuracy really change? Paired statistics for two classifiers judged on the same samples.
//
// b = samples only the first gets right, c = samples only the second gets right, n = all. The drop
// is (b - c) / n.
//   test      exact McNemar: two-sided binomial probability of a split at least as uneven as (b, c)
//   when both are 1/2 interval  adjusted Wald for paired proportions: Agresti and Min, "Simple
//   improved confidence intervals for comparing
//             matched proportions", Statistics in Medicine 24 (2005): 1/2 is added to each of the
//             four cells.
#pragma once

#include <cstdint>

namespace assay {

struct PairedTest {
  std::int64_t samples = 0;
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;
  double drop = 0;           ///< share lost by the second, in [-1, 1]
  double low = 0, high = 0;  ///< confidence interval of the drop
  double p_value = 1;        ///< exact McNemar
  /// Half the interval's width: a drop smaller than this is not told from zero with this many
  /// samples.
  double resolution = 0;
};

/// `confidence` is two-sided, 0.95 by default. All zero when there are no samples.
PairedTest paired_test(std::int64_t samples, std::int64_t only_first, std::int64_t only_second,
                       double confidence = 0.95);

}  // namespace assay
