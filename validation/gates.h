// Gates ("assay-gates/1"): conditions on values of the report; what fails a run.
//
// `select` names objects of the report by a path with optional filters on list elements,
// "accuracy.metrics[name=top1]"; `field` is a path inside each. A gate with "test": "mcnemar"
// compares like the others, but a value outside the limit whose paired test does not reject
// equality at `alpha` is undecided (exit 4 under --strict), not failed. E5 fails whatever the gates
// say.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay {

/// The gates used when the user gives none, as JSON text (`assay validate --print-gates`).
std::string default_gates();
/// Throws Error naming file and field.
nlohmann::json read_gates(const std::filesystem::path& file);

/// One entry per gate and selected object: {id, select, field, value, op, limit, result:
/// pass|fail|undecided|absent, note}.
nlohmann::ordered_json evaluate_gates(const nlohmann::json& gates,
                                      const nlohmann::ordered_json& report);

/// Objects of `report` that a path selects, with the text that names each.
std::vector<std::pair<std::string, const nlohmann::ordered_json*>> select_values(
    const nlohmann::ordered_json& report, const std::string& path);

}  // namespace assay
