// Largest |other - reference| / |reference| where the reference is not 0; the other pairs are
// counted in zero_reference.
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::max_rel_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) { return json_number(s.max_rel); }

const RegisterMetric registered{
    {.name = "max_rel", .unit = "", .higher_is_better = false, .from = from}};

}  // namespace
}  // namespace assay::max_rel_metric
