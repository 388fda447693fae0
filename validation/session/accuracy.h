// Accuracy: metrics, drops, agreement and output errors of every form, from the records.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "validation/session/records.h"
#include "validation/task.h"

namespace assay {

/// `records` in sample order. The part `accuracy` of the report.
nlohmann::ordered_json accuracy_json(const std::vector<SampleRecord>& records, const Task& task,
                                     const std::string& output);
/// Output errors by form: histogram bins and counts (part `histograms`).
nlohmann::ordered_json histograms_json(const std::vector<SampleRecord>& records);

}  // namespace assay
