// What a constraint table says about a model, for people, for programs and for code-review tools.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "quant/constraints.h"

namespace assay {

/// One line per layer behind a head and the counts.
std::string to_text(const TargetReport& r);

/// {target, title, source, version, scheme, product, statements, readings, notes, counts,
/// layers[]}.
nlohmann::json to_json(const TargetReport& r);

/// SARIF 2.1.0: one result per failed constraint, and one per layer without any; `model` is the
/// file that was judged. A layer that is not quantizable is an error, one that loses accuracy a
/// warning.
std::string to_sarif(const TargetReport& r, const std::string& model);

}  // namespace assay
