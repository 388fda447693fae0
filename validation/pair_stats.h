// Streaming comparison of two tensors, element by element: the sums from which every metric is
// computed.
//
// All sums are kept in double over the elements where both sides are finite; where one side is not,
// the pair is counted and left out, so that one odd element loses no other. Sums of one tensor are
// added in index order, and `merge` adds the sums of whole tensors: a total over many samples is
// made by merging in sample order, which makes it independent of how the samples were split into
// batches or shards.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace assay {

struct PairStats {
  static constexpr int histogram_low = -40;  ///< |error| below 2^-40 falls into the first bin
  static constexpr int histogram_high = 20;  ///< and at or above 2^20 into the last
  static constexpr std::size_t worst_kept = 10;

  std::int64_t count = 0;      ///< elements compared
  std::int64_t different = 0;  ///< pairs with other values (NaN equals NaN; +0 equals -0)
  std::int64_t nan_reference = 0, nan_other = 0;
  std::int64_t inf_reference = 0, inf_other = 0;
  std::int64_t nonfinite_mismatch =
      0;  ///< NaN or infinity on one side only, or infinities of unlike sign
  std::int64_t zero_reference =
      0;  ///< finite pairs whose reference is 0: left out of the relative error
  std::int64_t sign_flips = 0;  ///< finite pairs of non-zero values with unlike signs
  double max_abs = 0, max_rel = 0;
  std::int64_t max_abs_at = -1;  ///< flat index of the largest error, -1 when all agree
  double max_ulp =
      0;  ///< in units in the last place of the reference's float32 value (float tensors)
  double sum_abs = 0, sum_error2 = 0, sum_reference2 = 0, sum_other2 = 0, sum_product = 0,
         sum_error = 0;
  std::array<std::int64_t, histogram_high - histogram_low + 2>
      histogram{};  ///< [0] counts exact zeros, then one bin per power of two
  std::vector<std::int64_t> worst =
      {};  ///< flat indices of the first disagreeing elements, up to worst_kept

  /// Adds the sums of another tensor pair (the next sample of the same value).
  void merge(const PairStats& next);
};

/// Compares two tensors of one shape; element types may differ (codes against floats). Throws Error
/// when the shapes differ.
PairStats pair_stats(const Tensor& reference, const Tensor& other);

}  // namespace assay
