// assay fuse: rewrites a model, saves it as ONNX, and says what fired and what did not.
#include <CLI/CLI.hpp>
#include <iostream>

#include "fusion/fusion_docs.h"
#include "fusion/pipeline.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/writer.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"

namespace assay::fuse_command {
namespace {

struct FuseCommand {
  std::string model = {};
  std::string out = {};
  FusionOptions options = {};
  bool explain = false;
  bool rules = false;
  CommonOptions common = {};
};

void print_summary(const FuseCommand& c, const RewriteLog& log) {
  if (c.explain) {
    std::cout << explain(log);
    return;
  }
  std::map<std::string, int> fired;
  for (const FiredRewrite& f : log.fired) ++fired[f.rule];
  std::cout << "mode " << log.mode << ": " << log.nodes_before << " nodes before, "
            << log.nodes_after << " after, " << log.declined.size()
            << " near-matches declined (--explain lists them)\n";
  for (const auto& [rule, count] : fired) std::cout << "  " << rule << ": " << count << '\n';
}

int run(const FuseCommand& c) {
  if (c.rules) {
    std::cout << fusions_page();
    return 0;
  }
  if (c.model.empty())
    throw Error({.what = "no model is given", .advice = "assay fuse MODEL -o F.onnx"});
  if (c.out.empty() && !c.explain && !c.common.json) {
    throw Error({.what = "nothing to do", .advice = "give -o F.onnx, --explain or --json"});
  }
  apply(c.common);
  const FusionResult result = fuse(read_onnx(c.model), c.options);
  if (!c.out.empty()) write_onnx(result.graph, c.out);
  if (c.common.json)
    std::cout << to_json(result.log) << '\n';
  else if (!c.common.quiet)
    print_summary(c, result.log);
  return 0;
}

std::string mode_help() {
  std::string text = "none, or rules to apply: ";
  for (const FusionMode& m : fusion_modes()) text += m.name + " (" + m.meaning + "); ";
  return text + "or rule names separated by commas";
}

const RegisterCommand registered{
    {.name = "fuse",
     .summary = "Rewrite a model and save it; explain what fired and what did not",
     .setup = [](CLI::App& app) {
       auto c = std::make_shared<FuseCommand>();
       app.add_option("model", c->model, "ONNX file");
       app.add_option("-o,--out", c->out, "ONNX file to write; appears only when complete");
       app.add_option("--mode", c->options.mode, mode_help())->capture_default_str();
       app.add_option(
           "--skip", c->options.skip,
           "node, output value or rule to leave alone; * and ? are wildcards, repeatable");
       app.add_flag("--explain", c->explain,
                    "list every rewrite, and every near-match with the condition that failed");
       app.add_flag("--rules", c->rules, "print the page of all rules (docs/fusions.md)");
       add_common_options(app, c->common);
       app.footer(
           "Example: assay fuse resnet18.onnx -o fused.onnx --mode bn-add-relu --skip layer4* "
           "--explain");
       return [c] { return run(*c); };
     }}};

}  // namespace
}  // namespace assay::fuse_command
