#include "validation/session/baseline.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/json_fields.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// A median of many batches still drifts on shared machines by this much (docs/performance.md).
constexpr double noise = 1.25;

Json key_of(const Json& report) {
  Json key;
  key["model"] = report["model"]["sha256"];
  key["data"] = report["data"]["digest"];
  key["samples"] = report["data"]["samples"];
  key["config"] = report["quantization"].value("config", Json());
  key["profile"] = report["quantization"].value("profile", Json());
  key["mode"] = report["data"].value("mode", Json());
  return key;
}

struct Entry {
  std::string name;
  Json value;
  bool higher_is_better = true;
  bool kernels = false;  ///< comes from oneDNN: compared only under an equal instruction set
};

std::vector<Entry> entries(const Json& report) {
  std::vector<Entry> list;
  for (const Json& m : report["accuracy"].value("metrics", Json::array())) {
    for (const auto& [form, value] : m["values"].items()) {
      list.push_back({m["name"].get<std::string>() + "." + form, value,
                      m.value("higher_is_better", true), form.rfind("onednn", 0) == 0});
    }
  }
  const Json agreement = report["accuracy"].value("agreement", Json::object());
  for (const auto& [form, value] : agreement.items())
    list.push_back({"agreement." + form, value, true, form.rfind("onednn", 0) == 0});
  for (const Json& l : report["quantization"].value("layers", Json::array())) {
    list.push_back(
        {"sqnr." + l["output"].get<std::string>(), l["sqnr_db"]["cumulative"], true, false});
  }
  for (const Json& f : report["fusions"])
    list.push_back({"fusion." + f["rule"].get<std::string>() + "." + f["output"].get<std::string>(),
                    f["verdict"], false, false});
  return list;
}

bool worse(const Entry& now, const Json& before) {
  if (now.value == before) return false;
  if (now.value.is_number() && before.is_number()) {
    return now.higher_is_better ? now.value.get<double>() < before.get<double>()
                                : now.value.get<double>() > before.get<double>();
  }
  if (now.value.is_string() && before.is_string()) {
    if (now.name.rfind("fusion.", 0) == 0)
      return now.value.get<std::string>() > before.get<std::string>();  // E0 < E5 < U
  }
  return before == "exact";
}

bool slower(const Json& report, const Json& baseline, Json& changes) {
  bool any = false;
  for (const Json& run : report["performance"].value("runs", Json::array())) {
    const std::string name =
        run["form"].get<std::string>() + "." + run["backend"].get<std::string>();
    const Json& times = baseline["median_ms"];
    if (!times.contains(name)) continue;
    const double now = run["median_ms"].get<double>();
    const double then = times[name].get<double>();
    if (now <= then * noise) continue;
    changes.push_back(
        {{"name", "median_ms." + name}, {"baseline", then}, {"now", now}, {"kind", "slower"}});
    any = true;
  }
  return any;
}

}  // namespace

Json make_baseline(const Json& report) {
  Json b{
      {"schema", "assay-baseline/1"}, {"key", key_of(report)}, {"isa", report["machine"]["isa"]}};
  b["numbers"] = Json::object();
  for (const Entry& e : entries(report)) b["numbers"][e.name] = e.value;
  b["median_ms"] = Json::object();
  for (const Json& run : report["performance"].value("runs", Json::array())) {
    b["median_ms"][run["form"].get<std::string>() + "." + run["backend"].get<std::string>()] =
        run["median_ms"];
  }
  return b;
}

Json compare_baseline(const Json& report, const std::filesystem::path& file) {
  const Json baseline = Json(read_json(file));
  if (baseline.value("schema", "") != "assay-baseline/1" || !baseline.contains("key") ||
      !baseline.contains("numbers")) {
    throw Error({.what = "not a baseline",
                 .where = file.string(),
                 .expected = "schema assay-baseline/1",
                 .advice = "write one with --update-baseline"});
  }
  Json out{{"file", file.filename().string()}, {"state", "same"}, {"changes", Json::array()}};
  const Json key = key_of(report);
  for (const auto& [name, value] : key.items()) {
    if (nlohmann::json(value) == nlohmann::json(baseline["key"].value(name, Json()))) continue;
    out["state"] = "stale";
    out["reason"] = fmt::format("{} differs: {} here, {} in the baseline", name, value.dump(),
                                baseline["key"].value(name, Json()).dump());
    return out;
  }
  const bool same_isa = report["machine"]["isa"] == baseline["isa"];
  bool any_worse = false;
  bool any_better = false;
  Json known = baseline["numbers"];
  for (const Entry& e : entries(report)) {
    if (!known.contains(e.name)) {
      out["changes"].push_back({{"name", e.name}, {"now", e.value}, {"kind", "new"}});
      continue;
    }
    const Json before = known[e.name];
    known.erase(e.name);
    if (nlohmann::json(before) == nlohmann::json(e.value)) continue;
    const bool counts = !e.kernels || same_isa;
    const bool bad = worse(e, before);
    out["changes"].push_back({{"name", e.name},
                              {"baseline", before},
                              {"now", e.value},
                              {"kind", !counts ? "shown only"
                                       : bad   ? "worse"
                                               : "better"}});
    any_worse = any_worse || (bad && counts);
    any_better = any_better || (!bad && counts);
  }
  for (const auto& [name, value] : known.items())
    out["changes"].push_back({{"name", name}, {"baseline", value}, {"kind", "missing"}});
  if (any_better) out["state"] = "better";
  if (same_isa && slower(report, baseline, out["changes"])) out["state"] = "slower";
  if (any_worse || !known.empty()) out["state"] = "changed";
  return out;
}

}  // namespace assay
