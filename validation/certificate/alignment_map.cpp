#include "validation/certificate/alignment_map.h"

#include "runtime/json_fields.h"

namespace assay {

std::map<std::string, std::string> read_alignment_map(const std::filesystem::path& file) {
  if (file.empty()) return {};
  const nlohmann::json json = read_json(file);
  JsonFields all(json, file.string());
  all.schema("assay-map/1");
  std::map<std::string, std::string> map;
  std::size_t i = 0;
  for (const auto& item : all.required("pairs")) {
    JsonFields pair(item, file.string() + ": pairs[" + std::to_string(i++) + "]");
    const auto original = pair.get<std::string>("original");
    const auto other = pair.get<std::string>("other");
    for (const char* more : {"perm", "slice", "scale", "zero_point"}) {
      if (pair.has(more))
        throw Error({.what = "values that are stored otherwise cannot be paired",
                     .where = pair.place(more),
                     .advice = "pair values that hold the same tensor"});
      pair.get_or<nlohmann::json>(more, nullptr);
    }
    pair.done();
    if (!map.emplace(other, original).second)
      throw Error({.what = "a value is paired twice", .where = file.string(), .got = other});
  }
  all.done();
  return map;
}

}  // namespace assay
