// The loss of each quantized layer split by cause (quant/causes.h), for the report.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/dataset.h"
#include "validation/session/forms.h"

namespace assay {

struct LossCauses {
  /// By the float value at the layer's end: cause -> its share of the layer's error energy. Shares
  /// need not add up to 1: "interaction" is what is left, negative when causes cancel.
  std::map<std::string, std::map<std::string, double>> shares;
  std::map<std::string, std::string> skipped;  ///< node -> why its loss could not be split
};

/// Runs the first `count` samples through the graph that was quantized (float64) and its QDQ form
/// (correctly rounded). Empty without an INT8 form.
LossCauses split_losses(const Forms& forms, const Dataset& data, std::int64_t count,
                        const std::function<void(std::int64_t done, std::int64_t total)>& progress);

/// Puts the shares into the entries of report "quantization".
void add_causes(nlohmann::ordered_json& quantization, const LossCauses& causes,
                std::int64_t samples);

}  // namespace assay
