// Reading JSON files that users write: every field is checked, an unknown one is refused, and errors name the field.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "runtime/error.h"

namespace assay {

/// Parses a JSON file. Throws Error naming the file and the place of the fault.
nlohmann::json read_json(const std::filesystem::path& file);

/// One JSON object being read. `where` names it in errors ("data.json: inputs[0]"). Call done() after the last field.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where);

  bool has(const std::string& name) const { return object_.contains(name) && !object_[name].is_null(); }
  /// The raw field; Error when it is missing.
  const nlohmann::json& required(const std::string& name);
  template <class T>
  T get(const std::string& name) {
    return convert<T>(name, required(name));
  }
  template <class T>
  T get_or(const std::string& name, T missing) {
    seen_.insert(name);
    return has(name) ? convert<T>(name, object_[name]) : missing;
  }
  /// One of `allowed`.
  std::string choice(const std::string& name, const std::set<std::string>& allowed, const std::string& missing = {});
  /// The "schema" field must be `expected`.
  void schema(const std::string& expected);
  std::string place(const std::string& name) const { return where_ + ": " + name; }
  /// Throws Error naming the first field that nothing has read.
  void done() const;

 private:
  template <class T>
  T convert(const std::string& name, const nlohmann::json& value) {
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      throw Error({.what = "field has the wrong type", .where = place(name), .got = shortened(value)});
    }
  }
  static std::string shortened(const nlohmann::json& value);

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> seen_;
};

}  // namespace assay
