// What fusing and quantizing a model would do, and what they would leave alone and why: the second
// half of `assay inspect`.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "fusion/pipeline.h"
#include "quant/quantize.h"

namespace assay {

struct Outlook {
  RewriteLog fusion = {};
  std::optional<QuantReport> quantization =
      {};  ///< of the fused graph; which nodes, not which scales
  /// Why one of the two cannot be told: the error of the rules or of the quantizer.
  std::string fusion_failed = {};
  std::string quantization_failed = {};
};

/// Runs the rules of `mode` and the quantizer on a copy. Ranges are not known without data; every
/// activation is taken to lie in
/// [-1, 1], which does not change what is quantized. Throws Error for an unknown mode.
Outlook look_ahead(const Graph& g, const std::string& mode,
                   const std::map<std::string, Shape>& shapes);

std::string to_text(const Outlook& o);
/// Adds the keys "fusion" and "quantization".
void add_to(nlohmann::json& j, const Outlook& o);

}  // namespace assay
