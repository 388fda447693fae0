#include "validation/cli/quant_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "fusion/pipeline.h"
#include "quant/target.h"
#include "runtime/file.h"
#include "runtime/onnx/reader.h"
#include "validation/calibration.h"

namespace assay {
namespace {

DatasetPtr open_data(const Graph& g, const CalibrationFlags& flags) {
  if (flags.data.empty())
    return synthetic_dataset(g, parse_shapes(g, flags.shapes), flags.samples, flags.seed);
  std::string split = flags.split;
  if (split.empty() && has_split(flags.data, "calibration")) split = "calibration";
  return open_dataset(flags.data, split, g);
}

}  // namespace

void add_calibration_flags(CLI::App& app, CalibrationFlags& f) {
  app.add_option(
      "--data", f.data,
      "data folder or .npz; left out: a seeded synthetic fill (say --shape for open sizes)");
  app.add_option("--split", f.split, "split of the data (default: calibration, when there is one)");
  app.add_option("--limit", f.limit, "use at most this many samples");
  app.add_option("--samples", f.samples, "samples of the synthetic fill");
  app.add_option("--seed", f.seed, "seed of the synthetic fill");
  app.add_option("--shape", f.shapes, "NAME=1x3x224x224 for inputs with open sizes");
  app.add_option("--config", f.config, "configuration (JSON, assay-quant-config/1)");
  app.add_option("--scheme", f.scheme, "activations: " + scheme_names());
  app.add_option("--algorithm", f.algorithm,
                 fmt::format("calibration: {}", fmt::join(algorithm_names(), ", ")));
  app.add_option("--percentile", f.percentile,
                 "share of values each end keeps, in percent (algorithm percentile)");
  app.add_option("--mode", f.mode, "fusions before quantizing: none, bn, bn-add-relu, all");
  app.add_option("--backend", f.backend, "what calibration runs on: onednn or reference")
      ->check(CLI::IsMember({"onednn", "reference"}));
}

QuantConfig config_of(const CalibrationFlags& f) {
  QuantConfig c;
  if (!f.config.empty()) c = parse_quant_config(read_file(f.config), f.config);
  if (!f.scheme.empty()) {
    const auto scheme = parse_scheme(f.scheme);
    if (!scheme)
      throw Error({.what = "unknown scheme",
                   .where = "--scheme",
                   .got = f.scheme,
                   .expected = scheme_names()});
    c.scheme = *scheme;
  }
  if (!f.target.empty()) c.target = find_front_end(f.target).name;
  if (!f.product.empty()) c.product = f.product;
  if (!f.algorithm.empty()) c.algorithm = find_algorithm(f.algorithm).name;
  if (f.percentile != 0) c.percentile = f.percentile;
  return c;
}

Graph quantizer_input(const std::string& model, const CalibrationFlags& f) {
  return fuse(read_onnx(model), {.mode = f.mode}).graph;
}

CalibrationTable calibrate_from_flags(const Graph& g, const QuantConfig& config,
                                      const CalibrationFlags& f, const CommonOptions& common) {
  const DatasetPtr data = open_data(g, f);
  if (data->info().synthetic) std::cerr << "note: the data is a synthetic fill\n";
  CalibrationOptions options{.algorithm = config.algorithm};
  options.parameters = {.scheme = config.scheme, .percentile = config.percentile};
  CalibrationRun run{.on_kernels = f.backend == "onednn", .limit = f.limit};
  if (!common.quiet && !common.json) {
    run.progress = [last = std::int64_t{-1}](std::int64_t done, std::int64_t total) mutable {
      const std::int64_t tenth = 10 * done / total;
      if (tenth != last) std::cerr << fmt::format("calibrating: {} of {} samples\n", done, total);
      last = tenth;
    };
  }
  return calibrate_graph(g, *data, options, run);
}

std::map<std::string, Shape> count_shapes(const Graph& g, const CalibrationFlags& f) {
  auto shapes = parse_shapes(g, f.shapes);
  for (const ValueId v : g.inputs()) {
    if (shapes.count(g.name(v)) != 0 || !g.value(v).type.dims) continue;
    std::vector<std::int64_t> dims;
    for (const Dim& d : *g.value(v).type.dims) dims.push_back(d.size);
    if (!dims.empty() && dims[0] < 0) dims[0] = 1;
    if (std::find(dims.begin(), dims.end(), -1) == dims.end()) shapes[g.name(v)] = Shape(dims);
  }
  return shapes;
}

void print_calibration_notes(const CalibrationTable& table) {
  for (const auto& [name, r] : table.ranges) {
    if (r.nan + r.infinite == 0) continue;
    std::cerr << fmt::format("note: '{}' held {} NaN and {} infinities, kept out of its range\n",
                             name, r.nan, r.infinite);
  }
}

}  // namespace assay
