// A user's own metric: a command that gets JSON Lines of samples and tensor files on standard input
// and prints JSON scores.
//
// Per form one call: lines {"id", "form", "target", "outputs": {name: file.npy}} in; one object
// {"metric": number, ...} out. The command comes from --metric-cmd only, never from data.json,
// which may come from a stranger.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/dataset.h"
#include "validation/session/forms.h"

namespace assay {

/// Runs every form over the first `count` samples and the command over what they gave: {form:
/// {metric: number}}.
nlohmann::ordered_json run_metric_command(const std::string& command, const Dataset& data,
                                          const std::vector<Runner>& runners, std::int64_t count);

/// Adds scores by form (of --metric-cmd or of a --scores file) to accuracy.metrics.
void add_scores(nlohmann::ordered_json& accuracy, const nlohmann::ordered_json& scores);

}  // namespace assay
