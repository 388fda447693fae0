// Pairs of non-zero values whose signs differ.
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay::sign_flips_metric {
namespace {

nlohmann::ordered_json from(const PairStats& s) { return s.sign_flips; }

const RegisterMetric registered{
    {.name = "sign_flips", .unit = "", .higher_is_better = false, .from = from}};

}  // namespace
}  // namespace assay::sign_flips_metric
