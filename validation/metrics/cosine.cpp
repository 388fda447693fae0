// Cosine similarity: sum r*o / sqrt(sum r^2 * sum o^2). "both zero" or "one zero" where it is not
// defined.
#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::cosine_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) {
  if (s.sum_reference2 == 0 && s.sum_other2 == 0) return "both zero";
  if (s.sum_reference2 == 0 || s.sum_other2 == 0) return "one zero";
  return json_number(s.sum_product / (std::sqrt(s.sum_reference2) * std::sqrt(s.sum_other2)));
}

const RegisterMetric registered{
    {.name = "cosine", .unit = "", .higher_is_better = true, .from = from}};

}  // namespace
}  // namespace assay::cosine_metric
