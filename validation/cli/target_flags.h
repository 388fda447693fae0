// Flags of `assay inspect` that name a constraint table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quant/constraints.h"

namespace CLI {
class App;
}

namespace assay {

struct TargetFlags {
  std::string target = {};
  std::string product = {};
  std::string scheme = {};
  std::string sarif = {};
  std::vector<std::string> settings = {};
  bool strict = false;
};
void add_target_flags(CLI::App& app, TargetFlags& flags);

/// The verdicts of --target, and the SARIF file if one is asked for; nullopt without --target.
/// Throws Error for flags that need --target, and for unknown names.
std::optional<TargetReport> judge_target(const Graph& g, const TargetFlags& flags,
                                         const std::map<std::string, Shape>& shapes,
                                         const std::string& model);

/// 1, with a line on standard error, when --strict is given and a layer fails; else 0.
int exit_code(const TargetReport& report, const TargetFlags& flags);

}  // namespace assay
