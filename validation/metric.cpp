#include "validation/metric.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

std::vector<Metric>& registry() {
  static std::vector<Metric> metrics;
  return metrics;
}

}  // namespace

RegisterMetric::RegisterMetric(Metric metric) { registry().push_back(std::move(metric)); }

std::vector<const Metric*> all_metrics() {
  std::vector<const Metric*> list;
  for (const Metric& m : registry()) list.push_back(&m);
  std::sort(list.begin(), list.end(),
            [](const Metric* a, const Metric* b) { return a->name < b->name; });
  return list;
}

nlohmann::ordered_json json_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return x;
}

nlohmann::ordered_json metrics_json(const PairStats& s) {
  nlohmann::ordered_json out;
  out["elements"] = s.count;
  out["different"] = s.different;
  for (const Metric* m : all_metrics()) out[m->name] = m->from(s);
  out["nan"] = {s.nan_reference, s.nan_other};
  out["inf"] = {s.inf_reference, s.inf_other};
  out["nonfinite_mismatch"] = s.nonfinite_mismatch;
  out["zero_reference"] = s.zero_reference;
  return out;
}

}  // namespace assay
