#include "quant/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "embedded/quant_targets.h"
#include "quant/target_facts.h"
#include "runtime/json_fields.h"

namespace assay {
namespace {

using Json = nlohmann::json;

const std::vector<std::pair<LayerAnswer, std::string>>& answer_words() {
  static const std::vector<std::pair<LayerAnswer, std::string>> words = {
      {LayerAnswer::quantizable, "quantizable"},
      {LayerAnswer::tensor_only, "tensor-only"},
      {LayerAnswer::degrades, "quantizable-degrades"},
      {LayerAnswer::no, "no"},
      {LayerAnswer::not_listed, "not-listed"}};
  return words;
}

LayerAnswer read_answer(JsonFields& fields, const std::string& key, LayerAnswer missing) {
  if (!fields.has(key)) return missing;
  std::string word = fields.get<std::string>(key);
  if (word == "degrades") word = "quantizable-degrades";
  for (const auto& [answer, name] : answer_words()) {
    if (name == word) return answer;
  }
  throw Error({.what = "unknown answer", .where = fields.place(key), .got = "'" + word + "'"});
}

FactValue read_value(const Json& j, const std::string& where) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_string()) return j.get<std::string>();
  throw Error({.what = "not a value of a fact", .where = where, .got = j.dump()});
}

Condition read_condition(const Json& j, const std::string& where) {
  JsonFields fields(j, where);
  Condition c{.fact = fields.get<std::string>("fact")};
  const auto& names = fact_names();
  if (std::find(names.begin(), names.end(), c.fact) == names.end()) {
    throw Error({.what = "unknown fact",
                 .where = where,
                 .got = "'" + c.fact + "'",
                 .expected = fmt::format("{}", fmt::join(names, ", "))});
  }
  if (fields.has("is")) c.values = {read_value(fields.required("is"), where)};
  for (const char* key : {"in", "not_in"}) {
    if (!fields.has(key)) continue;
    for (const Json& v : fields.required(key)) c.values.push_back(read_value(v, where));
    c.negated = std::string(key) == "not_in";
  }
  if (fields.has("at_least")) c.at_least = fields.get<std::int64_t>("at_least");
  fields.done();
  if (c.values.empty() && !c.at_least)
    throw Error({.what = "condition without a value",
                 .where = where,
                 .expected = "is, in, not_in, at_least"});
  return c;
}

std::optional<Condition> read_optional(JsonFields& fields, const std::string& key) {
  if (!fields.has(key)) return std::nullopt;
  return read_condition(fields.required(key), fields.place(key));
}

std::string read_source(JsonFields& fields) {
  return fields.choice("source", {"code", "document"});
}

/// The fields of a constraint; the caller calls done().
Constraint read_constraint(JsonFields& fields) {
  Constraint c{.id = fields.get<std::string>("id"),
               .text = fields.get<std::string>("text"),
               .meaning = fields.get<std::string>("meaning"),
               .source = read_source(fields)};
  c.when = read_optional(fields, "when");
  c.check = read_optional(fields, "check");
  c.otherwise = read_answer(fields, "else", LayerAnswer::no);
  c.gives = read_answer(fields, "gives", LayerAnswer::quantizable);
  c.error = fields.get_or<bool>("error", false);
  c.edit = fields.get_or<std::string>("edit", "");
  return c;
}

std::vector<Constraint> read_constraints(JsonFields& fields, const std::string& key) {
  std::vector<Constraint> list;
  if (!fields.has(key)) return list;
  for (const Json& j : fields.required(key)) {
    JsonFields one(j, fields.place(key));
    list.push_back(read_constraint(one));
    one.done();
  }
  return list;
}

NodeMatch read_match(const Json& j, const std::string& where) {
  JsonFields fields(j, where);
  NodeMatch m{.op = fields.get_or<std::string>("op", ""),
              .domain = fields.get_or<std::string>("domain", ""),
              .ir = fields.get_or<std::string>("ir", "")};
  if (fields.has("when")) {
    for (const Json& c : fields.required("when")) m.when.push_back(read_condition(c, where));
  }
  fields.done();
  if (m.op.empty() == m.ir.empty())
    throw Error(
        {.what = "a match names an operator or an IR type", .where = where, .got = j.dump()});
  return m;
}

TargetRow read_row(const Json& j, const std::string& where) {
  JsonFields fields(j, where);
  TargetRow row{.type = fields.get<std::string>("type"),
                .title = fields.get<std::string>("title"),
                .ir = fields.get<std::vector<std::string>>("ir"),
                .source = read_source(fields)};
  const std::string place = where + ": " + row.type;
  for (const Json& m : fields.required("match")) row.match.push_back(read_match(m, place));
  row.answer = read_answer(fields, "answer", LayerAnswer::quantizable);
  row.constraints = read_constraints(fields, "constraints");
  row.when_both = read_constraints(fields, "when_both");
  row.cells = fields.get_or<std::map<std::string, std::string>>("cells", {});
  fields.done();
  return row;
}

TargetRule read_rule(const Json& j, const std::string& where) {
  JsonFields fields(j, where);
  TargetRule rule{.constraint = read_constraint(fields)};
  for (const Json& t : fields.required("types")) {
    if (t.is_string()) {
      rule.types.push_back({t.get<std::string>()});
      continue;
    }
    JsonFields one(t, where + ": types");
    rule.types.push_back({one.get<std::string>("type"), read_optional(one, "when")});
    one.done();
  }
  fields.done();
  return rule;
}

std::vector<Statement> read_statements(JsonFields& fields, const std::string& key) {
  std::vector<Statement> list;
  for (const Json& j : fields.required(key)) {
    JsonFields one(j, fields.place(key));
    list.push_back({.text = one.get<std::string>("text"),
                    .meaning = one.get_or<std::string>("meaning", ""),
                    .source = read_source(one),
                    .strict = one.get_or<bool>("strict", false)});
    one.done();
  }
  return list;
}

void read_document(JsonFields& fields, Target& t) {
  JsonFields document(fields.required("document"), fields.place("document"));
  t.document_title = document.get<std::string>("title");
  t.url = document.get<std::string>("url");
  t.file = document.get<std::string>("file");
  document.done();
}

void read_products(JsonFields& fields, Target& t) {
  for (const Json& p : fields.required("products")) {
    JsonFields product(p, fields.place("products"));
    t.products.push_back({product.get<std::string>("id"), product.get<std::string>("title")});
    product.done();
  }
}

Target read_target(const Json& j, const std::string& where) {
  JsonFields fields(j, where);
  fields.schema("assay-target/1");
  Target t{.name = fields.get<std::string>("name"),
           .title = fields.get<std::string>("title"),
           .version = fields.get<std::string>("version"),
           .scheme = fields.choice("scheme", {"uniform", "weight-only"}),
           .weight_only = fields.get_or<std::string>("weight_only", "")};
  read_document(fields, t);
  read_products(fields, t);
  for (const Json& r : fields.required("rules"))
    t.rules.push_back(read_rule(r, fields.place("rules")));
  t.statements = read_statements(fields, "statements");
  t.readings = fields.get<std::vector<std::string>>("readings");
  t.notes = read_statements(fields, "notes");
  for (const Json& r : fields.required("rows")) t.rows.push_back(read_row(r, fields.place("rows")));
  fields.done();
  return t;
}

const std::map<std::string, Target>& shipped_targets() {
  static const auto targets = [] {
    std::map<std::string, Target> found;
    for (const auto& file : embedded::quant_targets()) {
      Target t = parse_target(file.text, std::string(file.name));
      found.emplace(t.name, std::move(t));
    }
    return found;
  }();
  return targets;
}

[[noreturn]] void unknown_target(const std::string& name) {
  throw Error({.what = "unknown target",
               .got = "'" + name + "'",
               .expected = fmt::format("one of {}", fmt::join(target_names(), ", "))});
}

/// Letters of ASCII lowered, blanks and slashes as '-': how product names are compared.
std::string folded(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool separator = c == ' ' || c == '/' || c == '-' || c == '_';
    if (!separator) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (separator && !out.empty() && out.back() != '-') out += '-';
  }
  return out;
}

/// The id, the document's name, or one of the names that it joins by a slash.
bool names_product(const Product& p, const std::string& name) {
  if (folded(p.id) == folded(name) || folded(p.title) == folded(name)) return true;
  const auto slash = p.title.find(" / ");
  return slash != std::string::npos && (folded(p.title.substr(0, slash)) == folded(name) ||
                                        folded(p.title.substr(slash + 3)) == folded(name));
}

}  // namespace

std::string to_string(LayerAnswer a) {
  for (const auto& [answer, word] : answer_words()) {
    if (answer == a) return word;
  }
  return "";
}

std::string to_string(const FactValue& v) {
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&v)) return std::to_string(*i);
  return std::get<std::string>(v);
}

bool Condition::allows(const FactValue& v) const {
  if (at_least) {
    const auto* i = std::get_if<std::int64_t>(&v);
    return i != nullptr && *i >= *at_least;
  }
  return (std::find(values.begin(), values.end(), v) != values.end()) != negated;
}

std::string Condition::text() const {
  if (at_least) return fmt::format("{} >= {}", fact, *at_least);
  std::vector<std::string> words;
  for (const FactValue& v : values) words.push_back(to_string(v));
  if (words.size() == 1) return fmt::format("{} {} {}", fact, negated ? "!=" : "=", words[0]);
  return fmt::format("{} {} {{{}}}", fact, negated ? "not in" : "in", fmt::join(words, ", "));
}

Target parse_target(std::string_view text, const std::string& where) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    throw Error({.what = "constraint table is not JSON", .where = where, .got = e.what()});
  }
  return read_target(json, where);
}

const Target& find_target(const std::string& name) {
  const auto it = shipped_targets().find(name);
  if (it != shipped_targets().end()) return it->second;
  unknown_target(name);
}

const Target& find_front_end(const std::string& name) {
  const auto it = shipped_targets().find(name);
  if (it != shipped_targets().end() && it->second.scheme == "uniform") return it->second;
  unknown_target(name);
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const auto& [name, target] : shipped_targets()) {
    if (target.scheme == "uniform") names.push_back(name);
  }
  return names;
}

std::string find_product(const Target& target, const std::string& name) {
  std::vector<std::string> known;
  for (const Product& p : target.products) {
    if (names_product(p, name)) return p.id;
    known.push_back(fmt::format("{} ({})", p.id, p.title));
  }
  throw Error({.what = "unknown product",
               .where = "target " + target.name,
               .got = "'" + name + "'",
               .expected = known.empty() ? "no product: this table does not distinguish any"
                                         : fmt::format("one of {}", fmt::join(known, ", "))});
}

}  // namespace assay
