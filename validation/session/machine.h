// The machine a run was made on, and the versions that made it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace assay {

/// {cpu, isa, threads, os}
nlohmann::ordered_json machine_json();
/// {name, version, compiler, onednn}
nlohmann::ordered_json tool_json();

}  // namespace assay
