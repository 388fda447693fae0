// assay calibrate: ranges of every activation that the quantizer needs, from data, as a table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "quant/config.h"
#include "runtime/file.h"
#include "validation/cli/cli.h"
#include "validation/cli/quant_options.h"

namespace assay::calibrate_command {
namespace {

struct CalibrateCommand {
  std::string model = {};
  std::string out = {};
  CalibrationFlags flags = {};
  CommonOptions common = {};
};

int run(const CalibrateCommand& c) {
  apply(c.common);
  const QuantConfig config = config_of(c.flags);
  const Graph g = quantizer_input(c.model, c.flags);
  const CalibrationTable table = calibrate_from_flags(g, config, c.flags, c.common);
  write_file(c.out, table.to_json());
  if (c.common.json)
    std::cout << table.to_json();
  else if (!c.common.quiet) {
    std::cout << fmt::format("{} values from {} samples ({}, scheme {}): {}\n", table.ranges.size(),
                             table.samples, table.algorithm, to_string(table.scheme), c.out);
    print_calibration_notes(table);
  }
  return 0;
}

std::function<int()> setup(CLI::App& app) {
  const auto c = std::make_shared<CalibrateCommand>();
  app.add_option("model", c->model, "ONNX file")->required();
  app.add_option("-o,--output", c->out, "table to write (JSON, assay-calibration/1)")->required();
  add_calibration_flags(app, c->flags);
  add_common_options(app, c->common);
  app.footer(
      "Example:\n  assay calibrate model.onnx --data datasets/digits -o table.json --algorithm "
      "percentile");
  return [c] { return run(*c); };
}

const RegisterCommand registered{
    {"calibrate", "choose the range of every activation from data", setup}};

}  // namespace
}  // namespace assay::calibrate_command
