#include "validation/selftest/hash_table.h"

#include <nlohmann/json.hpp>

#include "embedded/selftest_hashes.h"
#include "runtime/json_fields.h"

namespace assay::selftest {
namespace {

constexpr const char* schema = "assay-hashes/1";

HashTable parse(const nlohmann::json& j, const std::string& where) {
  JsonFields fields(j, where);
  fields.schema(schema);
  HashTable table;
  for (const auto& [name, entry] : fields.required("models").items()) {
    JsonFields model(entry, where + ": models." + name);
    table[name] = {.sha256 = model.get_or<std::string>("sha256", ""),
                   .evaluations = model.get<std::map<std::string, Hashes>>("evaluations")};
    model.done();
  }
  fields.done();
  return table;
}

}  // namespace

HashTable read_hash_table(const std::filesystem::path& file) {
  return parse(read_json(file), file.string());
}

HashTable published_hashes() {
  const auto& file = embedded::selftest_hashes()[0];
  return parse(nlohmann::json::parse(file.text), std::string(file.name));
}

HashTable table_of(const std::vector<Outcome>& outcomes, const std::string& sha256) {
  HashTable table;
  for (const Outcome& o : outcomes) {
    table[o.model].sha256 = sha256;
    table[o.model].evaluations[o.evaluation] = o.hashes;
  }
  return table;
}

std::string to_json_text(const HashTable& table) {
  nlohmann::ordered_json models = nlohmann::ordered_json::object();
  for (const auto& [name, model] : table) {
    if (!model.sha256.empty()) models[name]["sha256"] = model.sha256;
    models[name]["evaluations"] = model.evaluations;
  }
  return nlohmann::ordered_json{{"schema", schema}, {"models", std::move(models)}}.dump(1) + "\n";
}

}  // namespace assay::selftest
