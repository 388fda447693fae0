// Baselines ("assay-baseline/1"): the numbers of an earlier run, keyed by what made them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace assay {

/// The baseline of a finished report.
nlohmann::ordered_json make_baseline(const nlohmann::ordered_json& report);

/// Compares a report with a baseline file: {state, reason, changes[]}. state: "same", "better",
/// "changed" (a reference number is worse), "slower" (same instruction set, median beyond the
/// noise), "stale" (another model, data, configuration or profile). Numbers of oneDNN and times
/// count only where machine.isa is equal; elsewhere they are listed as shown only.
nlohmann::ordered_json compare_baseline(const nlohmann::ordered_json& report,
                                        const std::filesystem::path& file);

}  // namespace assay
