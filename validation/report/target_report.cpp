#include "validation/report/target_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array answers = {LayerAnswer::quantizable, LayerAnswer::tensor_only,
                                LayerAnswer::degrades, LayerAnswer::no, LayerAnswer::not_listed};

std::string layer_name(const LayerVerdict& v) { return v.node.empty() ? v.output : v.node; }

std::string settings_text(const LayerVerdict& v) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : v.settings) parts.push_back(name + " = " + to_string(value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string layer_line(const LayerVerdict& v) {
  std::string line =
      fmt::format("  {:<21}'{}' ({})", to_string(v.answer), layer_name(v), v.op_type);
  if (!v.row.empty()) line += fmt::format(" as {} [{}]", v.row, fmt::join(v.ir, ", "));
  if (const std::string why = v.reason(); !why.empty()) line += ": " + why;
  if (const std::string edit = v.edit(); !edit.empty()) line += "; " + edit;
  if (!v.open.empty()) line += fmt::format("; depends on the product: {}", fmt::join(v.open, "; "));
  if (!v.settings.empty()) line += "; with " + settings_text(v);
  return line + "\n";
}

Json value_json(const FactValue& v) {
  return std::visit([](const auto& x) { return Json(x); }, v);
}

Json failed_json(const FailedConstraint& f) {
  return {{"constraint", f.id}, {"text", f.text},   {"meaning", f.meaning},
          {"source", f.source}, {"value", f.value}, {"expected", f.expected},
          {"edit", f.edit},     {"error", f.error}, {"answer", to_string(f.answer)}};
}

Json layer_json(const LayerVerdict& v) {
  Json settings = Json::object();
  for (const auto& [name, value] : v.settings) settings[name] = value_json(value);
  Json failed = Json::array();
  for (const FailedConstraint& f : v.failed) failed.push_back(failed_json(f));
  return {{"node", v.node},       {"op", v.op_type}, {"output", v.output},
          {"row", v.row},         {"ir", v.ir},      {"answer", to_string(v.answer)},
          {"failed", failed},     {"open", v.open},  {"settings", settings},
          {"reason", v.reason()}, {"edit", v.edit()}};
}

Json statements_json(const std::vector<Statement>& statements) {
  Json list = Json::array();
  for (const Statement& s : statements)
    list.push_back({{"text", s.text}, {"meaning", s.meaning}, {"source", s.source}});
  return list;
}

}  // namespace

std::string to_text(const TargetReport& r) {
  const Target& t = *r.table;
  std::string text = fmt::format("target    {}: {}\nsource    {}, {}{}{}\nscheme    {}\n",
                                 r.target->name, r.target->title, t.document_title, t.version,
                                 t.url.empty() ? "" : ", ", t.url, r.scheme);
  text += fmt::format("product   {}\n", r.product.empty() ? "not named" : r.product);
  for (const Statement& s : t.statements)
    text += fmt::format("statement {} ({})\n", s.text, s.meaning);
  text += "layers   ";
  for (const LayerAnswer a : answers)
    text += fmt::format(" {} {}", r.count(a), to_string(a)) + (a == answers.back() ? "\n" : ",");
  for (const LayerVerdict& v : r.layers) text += layer_line(v);
  for (const std::string& note : r.notes) text += "note: " + note + "\n";
  return text;
}

nlohmann::json to_json(const TargetReport& r) {
  const Target& t = *r.table;
  Json counts = Json::object();
  for (const LayerAnswer a : answers) counts[to_string(a)] = r.count(a);
  Json layers = Json::array();
  for (const LayerVerdict& v : r.layers) layers.push_back(layer_json(v));
  return {{"target", r.target->name},
          {"table", t.name},
          {"title", t.title},
          {"document", {{"title", t.document_title}, {"url", t.url}, {"file", t.file}}},
          {"version", t.version},
          {"scheme", r.scheme},
          {"product", r.product.empty() ? Json(nullptr) : Json(r.product)},
          {"statements", statements_json(t.statements)},
          {"readings", t.readings},
          {"notes", statements_json(t.notes)},
          {"not_judged", r.notes},
          {"counts", counts},
          {"layers", layers}};
}

}  // namespace assay
