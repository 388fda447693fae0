// assay validate: the main job.
#include "validation/session/validate.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "runtime/file.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"
#include "validation/cli/progress.h"
#include "validation/gates.h"

namespace assay::validate_command {
namespace {

struct Flags {
  ValidateOptions run;
  CommonOptions common;
  std::vector<std::string> inputs, shapes;
  std::string shard = "1/1";
  bool print_gates = false;
};

void parse_shard(Flags& f) {
  char slash = 0;
  std::istringstream in(f.shard);
  if (!(in >> f.run.shard >> slash >> f.run.shards) || slash != '/' || !in.eof() ||
      f.run.shard < 1 || f.run.shard > f.run.shards) {
    throw Error({.what = "not a shard",
                 .where = "--shard",
                 .got = f.shard,
                 .expected = "K/N with 1 <= K <= N"});
  }
}

int run(Flags& f) {
  if (f.print_gates) {
    std::cout << default_gates();
    return 0;
  }
  if (f.run.model.empty())
    throw Error({.what = "no model given",
                 .expected = "assay validate MODEL -o OUT",
                 .advice = "see assay validate --help"});
  if (f.run.out.empty()) throw Error({.what = "no output folder given", .where = "-o"});
  apply(f.common);
  parse_shard(f);
  f.run.inputs = parse_input_files(f.inputs);
  f.run.shapes = parse_shapes(read_onnx(f.run.model), f.shapes);
  f.run.quiet = f.common.quiet;
  ProgressBar bar(f.common.quiet);
  const ValidateResult result =
      validate(f.run, [&](const std::string& what, std::int64_t done, std::int64_t total) {
        bar.show(what, done, total);
      });
  if (f.common.json) {
    std::cout << read_file(f.run.out / "report.json");
  } else if (!f.common.quiet) {
    std::cout << result.summary << "report: " << (f.run.out / "report.html").string() << '\n';
  }
  return result.exit_code;
}

std::function<int()> setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  ValidateOptions& o = f->run;
  app.footer(
      "Example: assay validate datasets/digits/digits.onnx --data datasets/digits -o out/digits");
  app.add_option("model", o.model, "ONNX file of the original network");
  app.add_option(
      "--data", o.data,
      "folder with data.json, test_data_set_*, class folders, or an .npz; none: synthetic fill");
  app.add_option("--split", o.split, "split of data.json (default test)");
  app.add_option("--limit", o.limit, "use only the first N samples")->check(CLI::NonNegativeNumber);
  app.add_option("--shard", f->shard, "K/N: only this share of the batches; join with assay merge");
  app.add_flag("--resume", o.resume, "go on with the samples that an interrupted run has recorded");
  app.add_option("--shape", f->shapes, "NAME=1x3x224x224, repeatable: sizes the model leaves open");
  app.add_option("--input", f->inputs, "NAME=FILE.npy, repeatable: one sample instead of --data");
  app.add_option("--mode", o.mode,
                 "fusion set: none, bn, bn-add-relu, all, ... or rule names (default all)");
  app.add_option("--skip", o.skip, "node, value or rule that is not fused, repeatable");
  app.add_option("--config", o.config, "quantization config (assay-quant-config/1)");
  app.add_option("--scheme", o.scheme, "activations: u8, s8 or mixed");
  app.add_option("--target", o.target,
                 "constraint table that quantization obeys (assay inspect --target)");
  app.add_option("--product", o.product, "product of the target (id or name)");
  app.add_option("--profile", o.profile,
                 "numeric profile of the INT8 reference (default onnx-qdq)");
  app.add_option("--fused", o.fused,
                 "judge this fused graph, made by another tool, instead of Assay's own");
  app.add_option("--quantized", o.quantized, "judge this QDQ graph instead of Assay's own");
  app.add_option("--map", o.map, "pairs of value names for --fused (assay-map/1)");
  app.add_flag("--bisect", o.bisect,
               "how much of the final difference each fused instance makes");
  app.add_option("--gates", o.gates, "conditions that fail the run (assay-gates/1)");
  app.add_flag("--print-gates", f->print_gates, "print the default gates and stop");
  app.add_option("--baseline", o.baseline,
                 "compare with the numbers of an earlier run (assay-baseline/1)");
  app.add_option("--update-baseline", o.update_baseline, "write this run's numbers as a baseline");
  app.add_option("--certify-samples", o.certify_samples,
                 "samples on which fusions are judged (default 2)")
      ->check(CLI::PositiveNumber);
  app.add_option("--layer-samples", o.layer_samples,
                 "samples on which INT8 layers are measured (default 16)")
      ->check(CLI::PositiveNumber);
  app.add_option("--calibration-samples", o.calibration_samples,
                 "samples of the calibration split (default all)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o.seed, "seed of synthetic data and hostile inputs (default 1)");
  app.add_flag("--strict", o.strict, "undecided verdicts and gates fail the run (exit 4)");
  app.add_flag("--force", o.force,
               "calibrate on the test split when there is no calibration split");
  app.add_option("--metric-cmd", o.metric_cmd,
                 "your own metric: JSON Lines of samples in, one JSON object of scores out");
  app.add_option("--scores", o.scores, "JSON file of scores by form, added to the report");
  app.add_option("-o,--out", o.out, "folder for report.json, report.html, report.md, junit.xml");
  add_common_options(app, f->common);
  return [f] { return run(*f); };
}

const RegisterCommand registered{
    {"validate", "original, fused and INT8 side by side: certificates, losses, accuracy, report",
     setup}};

}  // namespace
}  // namespace assay::validate_command
