#include "validation/gates.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/json_fields.h"

namespace assay {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

constexpr const char* defaults = R"({
 "schema": "assay-gates/1",
 "gates": [
  {"id": "fusion-equivalent", "select": "fusions", "field": "verdict", "op": "in", "value": ["E0", "E1", "E2", "E3", "U"]},
  {"id": "fused-top1", "select": "accuracy.metrics[name=top1]", "field": "drop.fused", "op": "<=", "value": 0.001, "test": "mcnemar", "alpha": 0.05},
  {"id": "int8-top1", "select": "accuracy.metrics[name=top1]", "field": "drop.int8", "op": "<=", "value": 0.01, "test": "mcnemar", "alpha": 0.05},
  {"id": "onednn-int8-codes", "select": "quantization.layers", "field": "onednn.mismatches", "op": "==", "value": 0}
 ]
}
)";

struct Step {
  std::string key;
  std::string filter_key = {};
  std::string filter_value = {};
};

std::vector<Step> parse_path(const std::string& path) {
  std::vector<Step> steps;
  std::size_t at = 0;
  while (at <= path.size()) {
    // A filter's value may hold dots ("[output=a.b]"): the bracket is taken whole.
    std::size_t end = at;
    for (int depth = 0; end < path.size() && (depth > 0 || path[end] != '.'); ++end)
      depth += (path[end] == '[') - (path[end] == ']');
    const std::string part = path.substr(at, end - at);
    const auto open = part.find('[');
    Step step{.key = part.substr(0, open)};
    if (open != std::string::npos) {
      const auto equal = part.find('=', open);
      if (equal == std::string::npos || part.back() != ']') {
        throw Error({.what = "not a path",
                     .got = "'" + path + "'",
                     .expected = "like accuracy.metrics[name=top1]"});
      }
      step.filter_key = part.substr(open + 1, equal - open - 1);
      step.filter_value = part.substr(equal + 1, part.size() - equal - 2);
    }
    steps.push_back(std::move(step));
    at = end + 1;
  }
  return steps;
}

bool fits(const Json& element, const Step& step) {
  if (step.filter_key.empty()) return true;
  if (!element.is_object() || !element.contains(step.filter_key)) return false;
  const Json& v = element[step.filter_key];
  return (v.is_string() ? v.get<std::string>() : v.dump()) == step.filter_value;
}

std::string name_of(const Json& element, std::size_t index) {
  for (const char* key : {"output", "name", "node", "id"}) {
    if (element.is_object() && element.contains(key) && element[key].is_string())
      return element[key].get<std::string>();
  }
  return std::to_string(index);
}

const Json* field_of(const Json& object, const std::string& path) {
  const Json* at = &object;
  for (const Step& step : parse_path(path)) {
    if (!at->is_object() || !at->contains(step.key)) return nullptr;
    at = &(*at)[step.key];
  }
  return at;
}

bool holds(const Json& value, const std::string& op, const json& limit) {
  if (op == "in") return std::find(limit.begin(), limit.end(), json(value)) != limit.end();
  if (op == "==") return json(value) == limit;
  if (op == "!=") return json(value) != limit;
  if (value == "exact") return op == ">=" || op == ">";  // an exact SQNR is above every limit
  if (!value.is_number() || !limit.is_number()) return false;
  const double x = value.get<double>();
  const double y = limit.get<double>();
  if (op == "<=") return x <= y;
  if (op == "<") return x < y;
  if (op == ">=") return x >= y;
  return x > y;
}

/// "drop.int8" -> the p-value stored beside it as "mcnemar_p.int8".
bool significant(const json& gate, const Json& object) {
  const std::string field = gate["field"].get<std::string>();
  const Json* p =
      field_of(object, "mcnemar_p" + field.substr(std::min(field.find('.'), field.size())));
  return p == nullptr || !p->is_number() || p->get<double>() < gate.value("alpha", 0.05);
}

Json evaluate(const json& gate, const std::string& name, const Json& object) {
  Json out{{"id", gate["id"]}, {"object", name}, {"field", gate["field"]}};
  const Json* value = field_of(object, gate["field"].get<std::string>());
  out["op"] = gate["op"];
  out["limit"] = gate["value"];
  if (value == nullptr || value->is_null()) {
    out["result"] = "absent";
    out["note"] = "the report has no such value";
    return out;
  }
  out["value"] = *value;
  out["result"] = holds(*value, gate["op"].get<std::string>(), gate["value"]) ? "pass" : "fail";
  if (out["result"] == "fail" && gate.value("test", "") == "mcnemar" &&
      !significant(gate, object)) {
    out["result"] = "undecided";
    out["note"] = "outside the limit, but this many samples do not tell it from no change";
  }
  return out;
}

bool excepted(const json& gate, const std::string& name) {
  const json list = gate.value("except", json::array());
  return std::find(list.begin(), list.end(), json(name)) != list.end();
}

/// Many objects under one gate: the failing ones are listed, the rest is one line.
void add_results(Json& results, const json& gate,
                 const std::vector<std::pair<std::string, const Json*>>& objects) {
  std::int64_t passed = 0;
  Json last;
  for (const auto& [name, object] : objects) {
    if (excepted(gate, name)) continue;
    Json r = evaluate(gate, name, *object);
    if (r["result"] == "pass") {
      ++passed;
      last = std::move(r);
    } else if (r["result"] != "absent" || objects.size() == 1) {
      results.push_back(std::move(r));
    }
  }
  if (passed == 0) return;
  if (passed > 1) {
    last["note"] = std::to_string(passed) + " values pass";
    last.erase("object");
    last.erase("value");
  }
  results.push_back(std::move(last));
}

void check_gate(const json& gate, const std::string& where) {
  JsonFields f(gate, where);
  f.get<std::string>("id");
  parse_path(f.get<std::string>("select"));
  parse_path(f.get<std::string>("field"));
  f.choice("op", {"<=", "<", ">=", ">", "==", "!=", "in"});
  f.required("value");
  f.choice("test", {"mcnemar", "none"}, "none");
  f.get_or<double>("alpha", 0.05);
  f.get_or<std::vector<std::string>>("except", {});
  f.done();
}

}  // namespace

std::string default_gates() { return defaults; }

json read_gates(const std::filesystem::path& file) {
  const json document = file.empty() ? json::parse(defaults) : read_json(file);
  const std::string where = file.empty() ? "default gates" : file.string();
  JsonFields f(document, where);
  f.schema("assay-gates/1");
  const json gates = f.required("gates");
  f.done();
  for (std::size_t i = 0; i < gates.size(); ++i)
    check_gate(gates[i], where + ": gates[" + std::to_string(i) + "]");
  return gates;
}

std::vector<std::pair<std::string, const Json*>> select_values(const Json& report,
                                                               const std::string& path) {
  std::vector<std::pair<std::string, const Json*>> found{{"report", &report}};
  for (const Step& step : parse_path(path)) {
    std::vector<std::pair<std::string, const Json*>> next;
    for (const auto& [name, object] : found) {
      if (!object->is_object() || !object->contains(step.key)) continue;
      const Json& value = (*object)[step.key];
      if (!value.is_array()) {
        next.emplace_back(step.key, &value);
        continue;
      }
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (fits(value[i], step)) next.emplace_back(name_of(value[i], i), &value[i]);
      }
    }
    found = std::move(next);
  }
  return found;
}

Json evaluate_gates(const json& gates, const Json& report) {
  Json results = Json::array();
  for (const json& gate : gates)
    add_results(results, gate, select_values(report, gate["select"].get<std::string>()));
  return results;
}

}  // namespace assay
