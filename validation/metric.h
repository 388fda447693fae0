// Metrics: what is computed from the sums of a comparison. One file per metric in
// validation/metrics/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "validation/pair_stats.h"

namespace assay {

struct Metric {
  std::string name;  ///< key in reports: "sqnr_db"
  std::string unit;  ///< "dB", "" for plain numbers
  bool higher_is_better = false;
  /// A number, or a word where the number is not defined ("exact", "both zero"); never NaN or
  /// infinity.
  nlohmann::ordered_json (*from)(const PairStats&);
};

struct RegisterMetric {
  explicit RegisterMetric(Metric metric);
};

/// By name.
std::vector<const Metric*> all_metrics();
/// Every metric of a comparison, plus the counts of non-finite values: one flat JSON object.
nlohmann::ordered_json metrics_json(const PairStats& stats);
/// A JSON number, or "NaN", "Infinity", "-Infinity" as strings: reports hold no bare non-numbers.
nlohmann::ordered_json json_number(double x);

}  // namespace assay
