#include "validation/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay {

std::string cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "–";
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  for (char& c : text) {
    if (c == '|') c = '/';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string metric_cell(const nlohmann::ordered_json& value, const std::string& unit) {
  if (unit == "share" && value.is_number())
    return fmt::format("{:.2f} %", 100 * value.get<double>());
  return cell(value);
}

std::vector<nlohmann::ordered_json> worst_layers(const nlohmann::ordered_json& layers,
                                                 std::size_t count) {
  const auto sqnr = [](const nlohmann::ordered_json& l) -> const nlohmann::ordered_json* {
    if (!l.contains("sqnr_db") || !l["sqnr_db"].contains("cumulative")) return nullptr;
    const auto& v = l["sqnr_db"]["cumulative"];
    return v.is_number() ? &v : nullptr;
  };
  std::vector<nlohmann::ordered_json> list;
  for (const auto& l : layers) {
    if (sqnr(l) != nullptr) list.push_back(l);
  }
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return sqnr(a)->template get<double>() < sqnr(b)->template get<double>();
  });
  if (list.size() > count) list.resize(count);
  return list;
}

}  // namespace assay
