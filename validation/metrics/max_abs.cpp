// Largest |other - reference| over the pairs that are finite on both sides.
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::max_abs_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) { return json_number(s.max_abs); }

const RegisterMetric registered{
    {.name = "max_abs", .unit = "", .higher_is_better = false, .from = from}};

}  // namespace
}  // namespace assay::max_abs_metric
