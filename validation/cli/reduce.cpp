// assay reduce: the smallest failing case of a fused model, as files for a bug report.
#include "validation/session/reduce.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "runtime/onnx/reader.h"
#include "validation/certificate/kernel_check.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"
#include "validation/cli/progress.h"

namespace assay::reduce_command {
namespace {

struct Flags {
  ValidateOptions run;
  CommonOptions common;
  std::vector<std::string> inputs, shapes;
  std::string output;
  bool kernels = false;
};

int run(Flags& f) {
  apply(f.common);
  f.run.inputs = parse_input_files(f.inputs);
  f.run.shapes = parse_shapes(read_onnx(f.run.model), f.shapes);
  ProgressBar bar(f.common.quiet);
  const auto show = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    bar.show(what, done, total);
  };
  ReduceTarget target{.output = f.output};
  if (f.kernels) target.kernel_check = check_kernels;
  const ValidateResult result = reduce(f.run, target, show);
  if (!f.common.quiet) std::cout << result.summary;
  return result.exit_code;
}

std::function<int()> setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  ValidateOptions& o = f->run;
  app.footer(
      "Example: assay reduce model.onnx --fused model.ort.onnx --data DIR -o out/case\n"
      "Exit code 0: nothing fails, nothing is written; 1: a case was written; 4: the same for an "
      "undecided one (--strict)");
  app.add_option("model", o.model, "ONNX file of the original network")->required();
  app.add_option("--fused", o.fused, "fused graph of another tool; none: Assay's own fusion");
  app.add_option("--map", o.map, "pairs of value names for --fused (assay-map/1)");
  app.add_option("--mode", o.mode, "fusion set of Assay's own fusion (default all)");
  app.add_option("--skip", o.skip, "node, value or rule that is not fused, repeatable");
  app.add_option("--data", o.data, "data set, as in assay validate; none: synthetic fill");
  app.add_option("--split", o.split, "split of data.json (default test)");
  app.add_option("--input", f->inputs, "NAME=FILE.npy, repeatable: one sample instead of --data");
  app.add_option("--shape", f->shapes, "NAME=1x3x224x224, repeatable: sizes the model leaves open");
  app.add_option("--samples", o.certify_samples, "samples on which fusions are judged (default 2)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", o.seed, "seed of synthetic data and hostile inputs (default 1)");
  app.add_option("--output", f->output,
                 "reduce the failing instance that computes this value (default: the first)");
  app.add_flag("--kernels", f->kernels,
               "fails what is right itself, but oneDNN's kernel for it is outside its bound");
  app.add_flag("--strict", o.strict, "undecided instances fail too");
  app.add_option("-o,--out", o.out, "folder for original.onnx, fused.onnx, inputs and README.md")
      ->required();
  add_common_options(app, f->common);
  return [f] { return run(*f); };
}

const RegisterCommand registered{
    {"reduce", "the smallest failing subgraph of a fused model, as files for a bug report", setup}};

}  // namespace
}  // namespace assay::reduce_command
