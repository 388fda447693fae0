// Largest error in units in the last place of the reference's float32 value.
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::max_ulp_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) { return json_number(s.max_ulp); }

const RegisterMetric registered{
    {.name = "max_ulp", .unit = "ULP", .higher_is_better = false, .from = from}};

}  // namespace
}  // namespace assay::max_ulp_metric
