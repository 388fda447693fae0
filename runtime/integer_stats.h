// What happened inside integer arithmetic: saturations, ties, NaN, accumulator sizes, per node.
//
// A side channel: operators report into the collector of the calling thread, if there is one. The
// numbers never influence a result.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "runtime/numeric/quantize.h"

namespace assay {

struct Node;

/// Counts over the outputs of one node, summed over runs.
struct IntegerCounts {
  std::int64_t elements = 0;
  std::int64_t saturated_low = 0;   ///< rounded code was below the lowest one
  std::int64_t saturated_high = 0;  ///< ... above the highest one
  std::int64_t ties = 0;            ///< value to be rounded was exactly half-way
  std::int64_t near_ties = 0;       ///< within 2^-20 of a code step of half-way (ties included)
  std::int64_t nan = 0;             ///< NaN that became the zero point
  std::int64_t overflowed = 0;      ///< exact accumulators outside int32
  std::int64_t max_abs_accumulator = 0;

  IntegerCounts& operator+=(const IntegerCounts& other);
};

/// Counts a value that is rounded to a code; the zero point is part of `v` when it is added before
/// rounding.
void count_rounding(double v, std::int64_t zero_point, CodeRange range, IntegerCounts& counts);

/// Counts by node name; a nameless node counts under its first output's producer text. Thread-safe.
class IntegerStats {
 public:
  void add(const Node& node, const IntegerCounts& counts);
  std::map<std::string, IntegerCounts> by_node() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, IntegerCounts> counts_;
};

/// The collector of this thread, or nullptr.
IntegerStats* integer_stats();

/// While alive, runs started from this thread report into `stats`. Scopes nest.
class CollectIntegerStats {
 public:
  explicit CollectIntegerStats(IntegerStats& stats);
  ~CollectIntegerStats();
  CollectIntegerStats(const CollectIntegerStats&) = delete;
  CollectIntegerStats& operator=(const CollectIntegerStats&) = delete;

 private:
  IntegerStats* outer_;
};

}  // namespace assay
