#include "runtime/integer_stats.h"

#include <algorithm>

#include "runtime/graph.h"

namespace assay {
namespace {

thread_local IntegerStats* current = nullptr;

}  // namespace

IntegerCounts& IntegerCounts::operator+=(const IntegerCounts& other) {
  elements += other.elements;
  saturated_low += other.saturated_low;
  saturated_high += other.saturated_high;
  ties += other.ties;
  near_ties += other.near_ties;
  nan += other.nan;
  overflowed += other.overflowed;
  max_abs_accumulator = std::max(max_abs_accumulator, other.max_abs_accumulator);
  return *this;
}

void count_rounding(double v, std::int64_t zero_point, CodeRange range, IntegerCounts& counts) {
  ++counts.elements;
  if (std::isnan(v)) {
    ++counts.nan;
    return;
  }
  const double code = v + static_cast<double>(zero_point);
  counts.saturated_low += code < static_cast<double>(range.lo) - 0.5;
  counts.saturated_high += code > static_cast<double>(range.hi) + 0.5;
  const double distance = std::isfinite(v) ? tie_distance(v) : 1.0;
  counts.ties += distance == 0;
  counts.near_ties += distance < near_tie;
}

void IntegerStats::add(const Node& node, const IntegerCounts& counts) {
  const std::lock_guard lock(mutex_);
  counts_[node.name.empty() ? node.op_type : node.name] += counts;
}

std::map<std::string, IntegerCounts> IntegerStats::by_node() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

IntegerStats* integer_stats() { return current; }

CollectIntegerStats::CollectIntegerStats(IntegerStats& stats) : outer_(current) {
  current = &stats;
}
CollectIntegerStats::~CollectIntegerStats() { current = outer_; }

}  // namespace assay
