#include "validation/cli/tensor_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {

constexpr std::size_t shown = 8;

TensorSummary summarize(const Tensor& t) {
  TensorSummary s;
  for (const double x : to_doubles(t)) {
    if (s.first.size() < shown) s.first.push_back(x);
    s.nans += std::isnan(x);
    s.infinities += std::isinf(x);
    if (std::isnan(x)) continue;
    s.min = s.any ? std::min(s.min, x) : x;
    s.max = s.any ? std::max(s.max, x) : x;
    s.any = true;
  }
  return s;
}

std::string number_text(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  // A float32 reads best by its own shortest text.
  const auto narrow = static_cast<float>(x);
  return static_cast<double>(narrow) == x ? fmt::format("{}", narrow) : fmt::format("{}", x);
}

nlohmann::json number_json(double x) {
  if (std::isfinite(x)) return x;
  return number_text(x);
}

std::string summary_line(const std::string& name, const Tensor& t) {
  const TensorSummary s = summarize(t);
  std::string line = name + " " + describe(t);
  if (t.numel() == 0) return line + " no elements";
  if (s.any) line += " min " + number_text(s.min) + " max " + number_text(s.max);
  if (s.nans > 0) line += fmt::format(" NaN {}", s.nans);
  if (s.infinities > 0) line += fmt::format(" infinite {}", s.infinities);
  line += " first";
  for (const double x : s.first) line += " " + number_text(x);
  return line + (t.numel() > static_cast<std::int64_t>(shown) ? " ..." : "");
}

nlohmann::json summary_json(const std::string& name, const Tensor& t) {
  const TensorSummary s = summarize(t);
  nlohmann::json j = {
      {"name", name},   {"dtype", to_string(t.dtype())},   {"shape", t.shape().vec()},
      {"nan", s.nans},  {"infinite", s.infinities},        {"min", nullptr},
      {"max", nullptr}, {"first", nlohmann::json::array()}};
  if (s.any) {
    j["min"] = number_json(s.min);
    j["max"] = number_json(s.max);
  }
  for (const double x : s.first) j["first"].push_back(number_json(x));
  return j;
}

}  // namespace assay
