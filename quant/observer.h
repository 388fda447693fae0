// What calibration keeps of a tensor: exact range, counts of NaN and infinities, and a histogram.
//
// The histogram does not depend on the order in which values arrive, on batches, or on how parts
// are merged: bin k holds the values in [k 2^e, (k+1) 2^e), where e is the smallest exponent with
// max|x| <= capacity * 2^e. When a larger value arrives e grows and bins are merged in pairs,
// k -> floor(k/2), which is exact because floor(floor(x) / 2) = floor(x / 2). So one pass equals a
// pass that knew the range beforehand, and memory does not grow with the data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quant/params.h"
#include "runtime/tensor.h"

namespace assay {

struct Bin {
  double low = 0;
  double high = 0;
  std::int64_t count = 0;
  double middle() const { return (low + high) / 2; }
};

class StreamingHistogram {
 public:
  /// `capacity`: bins on each side of zero once the range is known; between capacity/2 and capacity
  /// are in use.
  explicit StreamingHistogram(std::int64_t capacity = 4096);

  void add(std::span<const float> values);
  /// The same as having added the other's values here. Both must have the same capacity.
  void merge(const StreamingHistogram& other);

  std::int64_t capacity() const { return capacity_; }
  std::int64_t count() const { return count_; }  ///< finite values
  std::int64_t nan() const { return nan_; }
  std::int64_t infinite() const { return infinite_; }
  /// Exact range of the finite values; nothing while there are none.
  std::optional<Range> range() const;
  /// From the lowest to the highest bin in use. The highest value, when it lies exactly on capacity
  /// * 2^e, is counted in the bin below, so that the last bin is closed.
  std::vector<Bin> bins() const;
  /// Counts of `bins` equal bins over [low, high], last one closed. Throws Error unless every edge
  /// is an edge of this histogram (low, high multiples of the bin width and the width of a new bin
  /// too).
  std::vector<std::int64_t> counts(double low, double high, std::int64_t bins) const;

 private:
  void add_block(std::span<const float> values);
  void grow(int exponent);
  std::int64_t& at(std::int64_t k) { return bins_[static_cast<std::size_t>(k + capacity_)]; }
  std::int64_t get(std::int64_t k) const { return bins_[static_cast<std::size_t>(k + capacity_)]; }

  std::int64_t capacity_;
  std::vector<std::int64_t> bins_;  // index k + capacity
  std::optional<int> exponent_;     // none while every value is zero
  std::int64_t count_ = 0;
  std::int64_t nan_ = 0;
  std::int64_t infinite_ = 0;
  float min_ = 0;
  float max_ = 0;
};

/// Adds a tensor of any float type, on all threads (the result does not depend on them).
void add_tensor(StreamingHistogram& histogram, const Tensor& t);

}  // namespace assay
