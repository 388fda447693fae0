// Text forms of report values, shared by the exporters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay {

/// A short form of a value: numbers to four digits, words as they are, "–" for nothing; '|' and
/// line breaks are made harmless.
std::string cell(const nlohmann::ordered_json& value);
/// As cell; a share is shown in percent.
std::string metric_cell(const nlohmann::ordered_json& value, const std::string& unit);
/// Layers by rising cumulative SQNR, at most `count`; layers without a number are left out.
std::vector<nlohmann::ordered_json> worst_layers(const nlohmann::ordered_json& layers,
                                                 std::size_t count);

}  // namespace assay
