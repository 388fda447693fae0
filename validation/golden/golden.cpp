#include "validation/golden/golden.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "fusion/pipeline.h"
#include "quant/lower.h"
#include "quant/profile.h"
#include "runtime/executor.h"
#include "runtime/file.h"
#include "runtime/json_fields.h"
#include "runtime/npy.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/version.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

std::string file_stem(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  }
  return out;
}

/// The graph of a form, and for int8 what its codes stand for.
struct FormGraph {
  Graph graph;
  std::map<std::string, QuantParams> codes;
};

FormGraph graph_of(const GoldenRequest& r) {
  FormGraph form{.graph = read_onnx(r.model), .codes = {}};
  if (r.form == "fused") form.graph = fuse(form.graph, {.mode = r.mode}).graph;
  if (r.form != "int8") return form;
  LowerResult lowered = lower(form.graph, {.profile = r.profile});
  if (lowered.codes.empty()) {
    throw Error({.what = "the model is not quantized",
                 .where = r.model.string(),
                 .expected = "a QDQ graph",
                 .advice = "make one with assay quantize"});
  }
  for (const CodeValue& c : lowered.codes) form.codes[c.codes] = c.params;
  form.graph = std::move(lowered.graph);
  return form;
}

std::set<std::string> tapped(const Graph& g, const std::vector<std::string>& taps) {
  std::set<std::string> names;
  for (const ValueId v : g.outputs()) names.insert(g.name(v));
  for (const std::string& tap : taps) {
    if (tap == "outputs") continue;
    if (tap == "all") {
      for (const NodeId n : g.node_ids()) {
        for (const ValueId v : g.node(n).outputs) {
          if (v.valid()) names.insert(g.name(v));
        }
      }
      continue;
    }
    if (!g.find_value(tap))
      throw Error(
          {.what = "the graph has no such value", .where = "--taps", .got = "'" + tap + "'"});
    names.insert(tap);
  }
  return names;
}

Json tensor_entry(const std::string& name, const Tensor& t, const std::string& file,
                  const std::string& bytes) {
  Json e{
      {"name", name}, {"file", file}, {"dtype", to_string(t.dtype())}, {"shape", t.shape().vec()}};
  e["layout"] = t.shape().rank() == 4 ? "NCHW" : "row-major";
  e["sha256"] = sha256(bytes);
  return e;
}

/// Writes tensors of one sample and lists them; names that become equal as file names get a number.
Json write_tensors(const std::map<std::string, Tensor>& tensors, const fs::path& root,
                   const std::string& folder) {
  Json list = Json::array();
  std::set<std::string> used;
  fs::create_directories(root / folder);
  for (const auto& [name, t] : tensors) {
    std::string stem = file_stem(name);
    for (int i = 1; !used.insert(stem).second; ++i)
      stem = file_stem(name) + "_" + std::to_string(i);
    const std::string file = folder + "/" + stem + ".npy";
    const std::string bytes = npy_bytes(t);
    write_file(root / file, bytes);
    list.push_back(tensor_entry(name, t, file, bytes));
  }
  return list;
}

void describe_codes(Json& list, const std::map<std::string, QuantParams>& codes) {
  for (Json& e : list) {
    const auto it = codes.find(e["name"].get<std::string>());
    if (it == codes.end()) continue;
    e["scale"] = it->second.scale;
    e["zero_point"] = it->second.zero_point;
  }
}

Json head(const GoldenRequest& r, const Dataset& data) {
  Json m{{"schema", "assay-golden/1"}, {"tool", {{"name", "assay"}, {"version", version}}}};
  m["model"] = {{"file", r.model.filename().string()}, {"sha256", sha256_of_file(r.model)}};
  m["form"] = r.form;
  if (r.form == "fused") m["mode"] = r.mode;
  if (r.form == "int8")
    m["profile"] = {{"name", r.profile}, {"sha256", find_profile(r.profile).hash}};
  m["precision"] = to_string(r.precision);
  m["arithmetic"] =
      "subnormals kept, round to nearest even, products rounded apart from sums (no contraction)";
  m["data"] = {
      {"source", data.info().synthetic ? data.info().source : "samples stored in this pack"},
      {"digest", data.info().digest}};
  m["seed"] = r.seed;
  m["rule"] = "bits";
  m["provenance"] = "computed by the reference, not by a device";
  m["samples"] = Json::array();
  return m;
}

std::string first_difference(const Tensor& want, const Tensor& got) {
  if (want.dtype() != got.dtype() || want.shape() != got.shape())
    return describe(got) + ", expected " + describe(want);
  const std::int64_t size = size_of(want.dtype());
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    if (std::memcmp(want.raw().data() + i * size, got.raw().data() + i * size,
                    static_cast<std::size_t>(size)) == 0)
      continue;
    const auto a = to_doubles(want.reshaped({want.numel()}).rows(i, i + 1));
    const auto b = to_doubles(got.reshaped({got.numel()}).rows(i, i + 1));
    return fmt::format("element {}: {}, expected {}", i, b[0], a[0]);
  }
  return "";
}

/// Reads one listed tensor after checking its hash; a fault is noted and gives nothing.
std::optional<Tensor> checked_tensor(const fs::path& pack, const Json& entry, GoldenCheck& check) {
  ++check.tensors;
  const fs::path file = pack / entry["file"].get<std::string>();
  std::error_code code;
  if (!fs::exists(file, code)) {
    check.faults.push_back(file.string() + ": missing");
    return std::nullopt;
  }
  const std::string bytes = read_file(file);
  if (sha256(bytes) != entry["sha256"].get<std::string>()) {
    check.faults.push_back(file.string() + ": sha256 differs from the manifest");
    return std::nullopt;
  }
  return parse_npy(std::as_bytes(std::span(bytes)), file.string());
}

GoldenRequest request_of(const Json& m, const fs::path& model) {
  GoldenRequest r{.model = model, .form = m["form"].get<std::string>()};
  r.mode = m.value("mode", "all");
  if (m.contains("profile")) r.profile = m["profile"]["name"].get<std::string>();
  r.precision = parse_precision(m["precision"].get<std::string>()).value_or(Precision::cr);
  return r;
}

}  // namespace

void make_golden(const GoldenRequest& r, const Dataset& data, const fs::path& out) {
  const FormGraph form = graph_of(r);
  const auto names = tapped(form.graph, r.taps);
  const Executor executor(form.graph, r.precision);
  Json manifest = head(r, data);
  write_folder(out, [&](const fs::path& root) {
    for (std::int64_t i = 0; i < std::min(r.samples, data.size()); ++i) {
      const Sample sample = data.load(i);
      const std::string folder = "sample_" + std::to_string(i);
      Json entry{{"id", sample.id}};
      entry["inputs"] = write_tensors(sample.inputs, root, folder + "/inputs");
      entry["tensors"] = write_tensors(executor.run(sample.inputs, nullptr, names), root, folder);
      describe_codes(entry["tensors"], form.codes);
      manifest["samples"].push_back(std::move(entry));
    }
    write_file(root / "manifest.json", manifest.dump(1) + "\n");
  });
}

GoldenCheck verify_golden(const fs::path& pack, const fs::path& model) {
  const Json m = Json(read_json(pack / "manifest.json"));
  if (m.value("schema", "") != "assay-golden/1")
    throw Error({.what = "not a golden pack", .where = (pack / "manifest.json").string()});
  GoldenCheck check;
  std::optional<FormGraph> form;
  std::optional<Executor> executor;
  if (!model.empty()) {
    if (sha256_of_file(model) != m["model"]["sha256"].get<std::string>()) {
      check.faults.push_back("the pack is stale: it was made from another " +
                             m["model"]["file"].get<std::string>());
    }
    const GoldenRequest r = request_of(m, model);
    if (m.contains("profile") &&
        find_profile(r.profile).hash != m["profile"]["sha256"].get<std::string>()) {
      check.faults.push_back("the pack is stale: profile " + r.profile + " has changed");
    }
    form = graph_of(r);
    executor.emplace(form->graph, r.precision);
  }
  for (const Json& sample : m["samples"]) {
    Feeds feeds;
    for (const Json& e : sample["inputs"]) {
      if (auto t = checked_tensor(pack, e, check)) feeds[e["name"].get<std::string>()] = *t;
    }
    std::map<std::string, Tensor> want;
    std::set<std::string> names;
    for (const Json& e : sample["tensors"]) {
      if (auto t = checked_tensor(pack, e, check)) want[e["name"].get<std::string>()] = *t;
      names.insert(e["name"].get<std::string>());
    }
    if (!executor || feeds.size() != sample["inputs"].size()) continue;
    const auto got = executor->run(feeds, nullptr, names);
    for (const auto& [name, t] : want) {
      const auto it = got.find(name);
      const std::string why =
          it == got.end() ? "not computed by this model" : first_difference(t, it->second);
      if (!why.empty())
        check.faults.push_back("sample '" + sample["id"].get<std::string>() + "', tensor '" + name +
                               "': " + why);
    }
  }
  check.ok = check.faults.empty();
  return check;
}

}  // namespace assay
