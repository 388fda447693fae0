// The parts of report.json that come from the forms (docs/schemas/assay-report-1.json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "validation/certificate/certify.h"
#include "validation/session/forms.h"
#include "validation/session/layers.h"

namespace assay {

/// model: {file, sha256, nodes, opset, ir, parameters, macs}
nlohmann::ordered_json model_json(const ValidateOptions& options, const Graph& g);
/// declined: near-matches of the fusion rules
nlohmann::ordered_json declined_json(const RewriteLog& log);
/// quantization: {scheme, profile, layers, coverage}
nlohmann::ordered_json quantization_json(const Forms& forms, const ValidateOptions& options,
                                         const std::vector<LayerLoss>& layers);
/// verdict: {status, summary, exit_code, reproducer}; the exit code is the first of 5, 1, 6, 4 that
/// applies
nlohmann::ordered_json verdict_json(const nlohmann::ordered_json& report,
                                    const ValidateOptions& options);

}  // namespace assay
