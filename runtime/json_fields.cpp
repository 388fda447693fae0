#include "runtime/json_fields.h"

#include "runtime/file.h"

namespace assay {

nlohmann::json read_json(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    throw Error({.what = "not valid JSON at byte " + std::to_string(e.byte), .where = file.string()});
  }
}

JsonFields::JsonFields(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) {
    throw Error({.what = "not a JSON object", .where = where_, .got = shortened(object)});
  }
}

const nlohmann::json& JsonFields::required(const std::string& name) {
  seen_.insert(name);
  if (!has(name)) throw Error({.what = "field is missing", .where = place(name)});
  return object_[name];
}

std::string JsonFields::choice(const std::string& name, const std::set<std::string>& allowed, const std::string& missing) {
  const std::string value = missing.empty() ? get<std::string>(name) : get_or<std::string>(name, missing);
  if (allowed.count(value)) return value;
  std::string list;
  for (const auto& a : allowed) list += (list.empty() ? "" : ", ") + a;
  throw Error({.what = "field has an unknown value", .where = place(name), .got = "'" + value + "'",
               .expected = "one of " + list});
}

void JsonFields::schema(const std::string& expected) {
  const auto found = get<std::string>("schema");
  if (found != expected) {
    throw Error({.what = "unknown schema", .where = place("schema"), .got = "'" + found + "'",
                 .expected = "'" + expected + "'"});
  }
}

void JsonFields::done() const {
  for (const auto& [name, value] : object_.items()) {
    if (!seen_.count(name)) throw Error({.what = "unknown field", .where = place(name), .got = shortened(value)});
  }
}

std::string JsonFields::shortened(const nlohmann::json& value) {
  std::string text = value.dump();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace assay
