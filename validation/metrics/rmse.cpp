// Root mean square error over the pairs that are finite on both sides; "no elements" when there are
// none.
#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::rmse_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) {
  std::int64_t pairs = 0;
  for (const std::int64_t n : s.histogram) pairs += n;
  if (pairs == 0) return "no elements";
  return json_number(std::sqrt(s.sum_error2 / static_cast<double>(pairs)));
}

const RegisterMetric registered{
    {.name = "rmse", .unit = "", .higher_is_better = false, .from = from}};

}  // namespace
}  // namespace assay::rmse_metric
