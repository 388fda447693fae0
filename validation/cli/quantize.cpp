// assay quantize: a float model becomes a QDQ model in INT8 that other runtimes load too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "quant/lower.h"
#include "quant/quantize.h"
#include "quant/target.h"
#include "runtime/file.h"
#include "runtime/onnx/writer.h"
#include "validation/cli/cli.h"
#include "validation/cli/quant_options.h"

namespace assay::quantize_command {
namespace {

struct QuantizeCommand {
  std::string model = {};
  std::string out = {};
  std::string table = {};
  std::string report = {};
  CalibrationFlags flags = {};
  CommonOptions common = {};
};

CalibrationTable table_of(const Graph& g, const QuantConfig& config, const QuantizeCommand& c) {
  if (!c.table.empty()) return parse_calibration(read_file(c.table), c.table);
  return calibrate_from_flags(g, config, c.flags, c.common);
}

void print(const QuantizeCommand& c, const QuantReport& r, const LowerResult& low) {
  std::int64_t quantized = 0, integer = 0;
  for (const NodeVerdict& n : r.nodes) quantized += n.quantized;
  for (const LoweredNode& n : low.nodes) integer += n.lowered;
  const std::string share =
      r.macs == 0 ? "unknown (give --shape)" : fmt::format("{:.2f} %", 100 * r.int8_share());
  std::cout << fmt::format(
      "{} of {} operators quantized, {} integer operators after lowering; MACs in INT8: {}\n",
      quantized, r.nodes.size(), integer, share);
  for (const NodeVerdict& n : r.nodes) {
    if (n.quantized && !n.raised_channels.empty()) {
      std::cout << fmt::format(
          "note: {} ({}): weight scale raised in {} channels so that the bias fits int32\n", n.node,
          n.op_type, n.raised_channels.size());
    }
    if (n.quantized && !n.dead_channels.empty()) {
      std::cout << fmt::format("note: {} ({}): {} channels have no weights\n", n.node, n.op_type,
                               n.dead_channels.size());
    }
    if (n.quantized || (n.macs == 0 && !n.by_target)) continue;
    std::cout << fmt::format("float: {} ({}): {}\n", n.node, n.op_type, n.reason);
  }
  if (!r.dropped_mid_rounding.empty()) {
    std::cout << fmt::format(
        "note: rounding between Conv and Add dropped at {} places (verdict E3)\n",
        r.dropped_mid_rounding.size());
  }
  std::cout << fmt::format("wrote {}\n", c.out);
}

int run(const QuantizeCommand& c) {
  apply(c.common);
  const QuantConfig config = config_of(c.flags);
  const Graph g = quantizer_input(c.model, c.flags);
  const CalibrationTable table = table_of(g, config, c);
  const QuantizeResult q = quantize(g, table, config, count_shapes(g, c.flags));
  write_onnx(q.graph, c.out);
  if (!c.report.empty()) write_file(c.report, to_json(q.report));
  if (c.common.json)
    std::cout << to_json(q.report);
  else if (!c.common.quiet) {
    print_calibration_notes(table);
    print(c, q.report, lower(q.graph));
  }
  return 0;
}

std::function<int()> setup(CLI::App& app) {
  const auto c = std::make_shared<QuantizeCommand>();
  app.add_option("model", c->model, "ONNX file")->required();
  app.add_option("-o,--output", c->out, "QDQ model to write")->required();
  app.add_option("--table", c->table, "calibration table to use instead of data");
  app.add_option("--report", c->report, "what became of every operator, as JSON");
  add_calibration_flags(app, c->flags);
  app.add_option(
      "--target", c->flags.target,
      fmt::format("constraint table that is obeyed: {}", fmt::join(target_names(), ", ")));
  app.add_option("--product", c->flags.product, "product of the target (id or name)");
  add_common_options(app, c->common);
  app.footer(
      "Example:\n  assay quantize model.onnx --data datasets/digits -o model_int8.onnx --scheme "
      "u8");
  return [c] { return run(*c); };
}

const RegisterCommand registered{{"quantize", "write an INT8 (QDQ) model", setup}};

}  // namespace
}  // namespace assay::quantize_command
