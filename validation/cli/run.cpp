// assay run: one run of a model, outputs and taps printed and saved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "kernels/program.h"
#include "runtime/file.h"
#include "runtime/npy.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"
#include "validation/cli/tensor_summary.h"

namespace assay::run_command {
namespace {

struct RunCommand {
  std::string model = {};
  std::string precision = "cr";
  std::string backend = "reference";
  std::vector<std::string> taps = {};
  std::string out = {};
  InputOptions input = {};
  CommonOptions common = {};
};

using Named = std::vector<std::pair<std::string, Tensor>>;

std::set<std::string> checked_taps(const Graph& g, const std::vector<std::string>& taps) {
  for (const std::string& name : taps) {
    if (g.find_value(name)) continue;
    throw Error({.what = "the model has no such tensor", .got = "--tap '" + name + "'"});
  }
  return {taps.begin(), taps.end()};
}

std::map<std::string, Tensor> on_onednn(const Graph& g, const Feeds& feeds,
                                        const std::set<std::string>& taps) {
  check_feeds(g, feeds);
  return kernels::Program::compile(g, shapes_of(feeds)).run(feeds, taps);
}

std::map<std::string, Tensor> computed(const Graph& g, const RunCommand& c, const Feeds& feeds,
                                       const std::set<std::string>& taps) {
  if (c.backend == "onednn") return on_onednn(g, feeds, taps);
  return Executor(g, *parse_precision(c.precision)).run(feeds, nullptr, taps);
}

/// Outputs in the model's order, then taps in the order given. NumPy has no double-double: it is
/// shown and saved as float64.
Named in_order(const Graph& g, const RunCommand& c, const std::map<std::string, Tensor>& found) {
  std::vector<std::string> names;
  for (const ValueId v : g.outputs()) names.push_back(g.name(v));
  names.insert(names.end(), c.taps.begin(), c.taps.end());
  Named tensors;
  std::set<std::string> done;
  for (const std::string& name : names) {
    if (!done.insert(name).second) continue;
    const auto it = found.find(name);
    const Tensor& constant = g.value(*g.find_value(name)).initializer;
    Tensor t = it != found.end() ? it->second : constant;
    if (!t.defined()) {
      throw Error({.what = "the back end does not compute this tensor: it is part of a fused step",
                   .got = "--tap '" + name + "'"});
    }
    tensors.emplace_back(name, t.dtype() == DType::dd ? convert(t, DType::float64) : t);
  }
  return tensors;
}

void save(const std::string& folder, const Named& tensors) {
  write_folder(folder, [&](const std::filesystem::path& part) {
    auto index = nlohmann::json::object();
    std::map<std::string, std::string> owner;
    for (const auto& [name, t] : tensors) {
      const std::string file = file_name_of(name) + ".npy";
      if (const auto [it, free] = owner.emplace(file, name); !free) {
        throw Error({.what = "two tensors would be saved under one file name",
                     .got = "'" + it->second + "' and '" + name + "'",
                     .expected = "names that differ in letters, digits, '.', '_' or '-'"});
      }
      write_npy(part / file, t);
      index[name] = file;
    }
    write_file(part / "index.json", index.dump(2) + "\n");
  });
}

void print(const RunCommand& c, const LoadedFeeds& loaded, const Named& tensors) {
  if (c.common.json) {
    nlohmann::json j = {{"model", c.model},
                        {"precision", c.precision},
                        {"backend", c.backend},
                        {"synthetic", loaded.synthetic},
                        {"tensors", nlohmann::json::array()}};
    for (const auto& [name, t] : tensors) j["tensors"].push_back(summary_json(name, t));
    std::cout << j.dump(2) << '\n';
    return;
  }
  if (c.common.quiet) return;
  for (const std::string& name : loaded.synthetic) {
    std::cout << fmt::format("note: input '{}' is a synthetic fill, {} (seed {})\n", name,
                             describe(loaded.feeds.at(name)), c.input.seed);
  }
  for (const auto& [name, t] : tensors) std::cout << summary_line(name, t) << '\n';
}

int run(const RunCommand& c) {
  apply(c.common);
  if (!c.out.empty()) check_writable_folder(c.out);
  const Graph g = read_onnx(c.model);
  const LoadedFeeds loaded = load_feeds(g, c.input);
  const auto taps = checked_taps(g, c.taps);
  try {
    const Named tensors = in_order(g, c, computed(g, c, loaded.feeds, taps));
    if (!c.out.empty()) save(c.out, tensors);
    print(c, loaded, tensors);
  } catch (const Error& e) {
    throw e.at(c.model);
  }
  return 0;
}

const RegisterCommand registered{
    {.name = "run",
     .summary = "Run a model once; print and save its outputs",
     .setup = [](CLI::App& app) {
       auto c = std::make_shared<RunCommand>();
       app.add_option("model", c->model, "ONNX file")->required();
       add_input_options(app, c->input);
       app.add_option("--precision", c->precision, "cr (correctly rounded), f32, f64 or dd")
           ->check(CLI::IsMember({"cr", "f32", "f64", "dd"}));
       app.add_option("--backend", c->backend, "reference or onednn")
           ->check(CLI::IsMember({"reference", "onednn"}));
       app.add_option("--tap", c->taps, "also this tensor, repeatable")->type_name("NAME");
       app.add_option("-o,--out", c->out,
                      "folder for NAME.npy and index.json; written whole or not at all");
       add_common_options(app, c->common);
       app.footer(
           "Example:\n  assay run model.onnx --input image=image.npy --precision cr --tap conv1 -o "
           "out/");
       return [c] { return run(*c); };
     }}};

}  // namespace
}  // namespace assay::run_command
