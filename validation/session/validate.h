// The main job: original, fused and INT8 side by side on the reference and on oneDNN; the report
// and its files.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "validation/session/options.h"

namespace assay {

/// Told what a run is doing; `done` of `total` steps, 0 of 0 for a plain message.
using Progress =
    std::function<void(const std::string& what, std::int64_t done, std::int64_t total)>;

struct ValidateResult {
  int exit_code = 0;
  std::string summary;  ///< the table printed at the end
};

/// Runs, writes options.out in one step, and says how it ended. Throws Error for bad input.
ValidateResult validate(const ValidateOptions& options, const Progress& progress);

/// Joins the outputs of shards (`assay validate --shard K/N`) into one report at `out`.
ValidateResult merge_shards(const std::vector<std::filesystem::path>& parts,
                            const std::filesystem::path& out,
                            const std::filesystem::path& gates = {});

/// The table of forms that the command line prints.
std::string summary_table(const nlohmann::ordered_json& report);

}  // namespace assay
