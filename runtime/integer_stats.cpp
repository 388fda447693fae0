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
