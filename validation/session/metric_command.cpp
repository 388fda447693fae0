#include "validation/session/metric_command.h"

#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "runtime/npy.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

/// A temporary folder that goes away again.
struct Scratch {
  fs::path path;
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "assay-metric-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error({.what = "cannot make a temporary folder", .where = pattern});
    path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

std::string lines_of(const Runner& runner, const Dataset& data, std::int64_t count,
                     const fs::path& folder) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    const Batch one = load_batch(data, i, i + 1);
    Json line{{"id", one.samples[0].id}, {"form", runner.form}};
    if (one.samples[0].label) line["target"] = *one.samples[0].label;
    std::int64_t k = 0;
    for (const auto& [name, t] : runner.run(one.inputs, {})) {
      const fs::path file =
          folder / (runner.form + "-" + std::to_string(i) + "-" + std::to_string(k++) + ".npy");
      write_npy(file, t);
      line["outputs"][name] = file.string();
    }
    text += line.dump() + "\n";
  }
  return text;
}

Json call(const std::string& command, const fs::path& input) {
  const std::string full = "( " + command + " ) < '" + input.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(full.c_str(), "r"),
                                                   [](FILE*) { return 0; });
  if (!pipe)
    throw Error({.what = "cannot run the metric command", .where = "--metric-cmd", .got = command});
  std::string out;
  char block[4096];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, pipe.get())) > 0;)
    out.append(block, n);
  const int status = pclose(pipe.get());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error({.what = "the metric command failed",
                 .where = "--metric-cmd",
                 .got = "exit " + std::to_string(WEXITSTATUS(status))});
  }
  const Json scores = Json::parse(out, nullptr, false);
  if (!scores.is_object()) {
    throw Error({.what = "the metric command must print one JSON object of scores",
                 .where = "--metric-cmd",
                 .got = out.substr(0, 60)});
  }
  return scores;
}

}  // namespace

Json run_metric_command(const std::string& command, const Dataset& data,
                        const std::vector<Runner>& runners, std::int64_t count) {
  Json all;
  for (const Runner& runner : runners) {
    const Scratch scratch;
    const fs::path input = scratch.path / "samples.jsonl";
    write_file(input, lines_of(runner, data, count, scratch.path));
    all[runner.form] = call(command, input);
  }
  return all;
}

void add_scores(Json& accuracy, const Json& scores) {
  std::map<std::string, Json> by_metric;
  for (const auto& [form, object] : scores.items()) {
    if (!object.is_object())
      throw Error({.what = "scores must be objects by form", .got = object.dump()});
    for (const auto& [metric, value] : object.items()) by_metric[metric][form] = value;
  }
  for (auto& [metric, values] : by_metric) {
    Json m{{"name", metric}, {"unit", ""}, {"higher_is_better", true}, {"values", values}};
    if (values.contains("original") && values["original"].is_number()) {
      for (const auto& [form, value] : values.items()) {
        if (form != "original" && value.is_number())
          m["drop"][form] = values["original"].get<double>() - value.get<double>();
      }
    }
    accuracy["metrics"].push_back(std::move(m));
  }
}

}  // namespace assay
