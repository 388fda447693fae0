// SARIF 2.1.0 (OASIS standard): the form in which code-review tools take findings.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "validation/cli/version.h"
#include "validation/report/target_report.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// SARIF's pair of words for an answer: a kind other than "fail" has the level "none".
struct Outcome {
  const char* kind;
  const char* level;
};

Outcome outcome_of(LayerAnswer a) {
  switch (a) {
    case LayerAnswer::quantizable:
      return {"pass", "none"};
    case LayerAnswer::tensor_only:
      return {"informational", "none"};
    case LayerAnswer::degrades:
      return {"fail", "warning"};
    case LayerAnswer::no:
      return {"fail", "error"};
    case LayerAnswer::not_listed:
      return {"notApplicable", "none"};
  }
  return {"review", "none"};
}

/// Unreserved characters of RFC 3986 and '/' stay, every other byte becomes %XX.
std::string uri_of(const std::string& path) {
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

class Log {
 public:
  Log(const TargetReport& report, const std::string& model)
      : report_(report), uri_(uri_of(model)) {}

  std::string text() {
    for (const Statement& s : report_.table->statements) add_statement(s);
    for (const LayerVerdict& v : report_.layers) add_layer(v);
    Json driver = {{"name", "assay"}, {"version", version}, {"rules", rules_}};
    Json run = {{"tool", {{"driver", driver}}},
                {"artifacts", Json::array({{{"location", {{"uri", uri_}}}}})},
                {"results", results_},
                {"columnKind", "utf16CodeUnits"},
                {"properties",
                 {{"target", report_.target->name},
                  {"table", report_.table->name},
                  {"tableVersion", report_.table->version},
                  {"scheme", report_.scheme},
                  {"product", report_.product}}}};
    const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", Json::array({run})}};
    return log.dump(2) + "\n";
  }

 private:
  /// The index of a rule, added when it is new.
  std::size_t rule(const std::string& id, const std::string& shortly, const std::string& fully) {
    const auto [it, added] = indices_.emplace(id, rules_.size());
    if (added) {
      rules_.push_back({{"id", id},
                        {"shortDescription", {{"text", shortly}}},
                        {"fullDescription", {{"text", fully}}}});
    }
    return it->second;
  }

  Json result(const std::string& id, std::size_t index, LayerAnswer answer,
              const std::string& message) {
    const Outcome o = outcome_of(answer);
    return {{"ruleId", id},
            {"ruleIndex", index},
            {"kind", o.kind},
            {"level", o.level},
            {"message", {{"text", message}}}};
  }

  Json location(const LayerVerdict* v) const {
    Json place = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_}, {"index", 0}}}}}};
    if (v != nullptr) {
      const std::string name = v->node.empty() ? v->output : v->node;
      place["logicalLocations"] = Json::array({{{"name", name}, {"kind", "element"}}});
    }
    return Json::array({place});
  }

  void add_statement(const Statement& s) {
    const std::string id = report_.table->name + "/statement";
    Json r = result(id, rule(id, s.meaning, s.text),
                    s.strict ? LayerAnswer::no : LayerAnswer::tensor_only, s.meaning);
    r["locations"] = location(nullptr);
    results_.push_back(r);
  }

  void add_layer(const LayerVerdict& v) {
    for (const FailedConstraint& f : v.failed) add_failure(v, f);
    if (!v.failed.empty()) return;
    const std::string id = report_.table->name + "/" + (v.row.empty() ? "not-listed" : v.row);
    const std::string what = v.row.empty() ? "the table has no row for the layer" : "row " + v.row;
    const std::string message =
        to_string(v.answer) + (v.remark.empty() ? "" : ": " + v.remark) +
        (v.open.empty() ? ""
                        : fmt::format("; depends on the product: {}", fmt::join(v.open, "; ")));
    Json r = result(id, rule(id, what, what), v.answer, message);
    finish(r, v);
  }

  void add_failure(const LayerVerdict& v, const FailedConstraint& f) {
    Json r =
        result(f.id, rule(f.id, f.meaning, f.text), f.answer,
               fmt::format("{}: {}{}{}", f.meaning, f.value, f.edit.empty() ? "" : "; ", f.edit));
    r["properties"] = {
        {"value", f.value}, {"expected", f.expected}, {"edit", f.edit}, {"source", f.source}};
    finish(r, v);
  }

  void finish(Json& r, const LayerVerdict& v) {
    r["locations"] = location(&v);
    r["properties"]["answer"] = to_string(v.answer);
    r["properties"]["operator"] = v.op_type;
    results_.push_back(std::move(r));
  }

  const TargetReport& report_;
  std::string uri_;
  Json rules_ = Json::array();
  Json results_ = Json::array();
  std::map<std::string, std::size_t> indices_;
};

}  // namespace

std::string to_sarif(const TargetReport& r, const std::string& model) {
  return Log(r, model).text();
}

}  // namespace assay
