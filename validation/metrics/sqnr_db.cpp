// SQNR in dB: 10 log10(sum reference^2 / sum error^2); higher is better. "exact" when there is no
// error, "no signal" when the reference is all zero and there is an error.
#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::sqnr_db_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) {
  if (s.sum_error2 == 0) return "exact";
  if (s.sum_reference2 == 0) return "no signal";
  return json_number(10 * std::log10(s.sum_reference2 / s.sum_error2));
}

const RegisterMetric registered{
    {.name = "sqnr_db", .unit = "dB", .higher_is_better = true, .from = from}};

}  // namespace
}  // namespace assay::sqnr_db_metric
