#include "validation/cli/target_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "runtime/file.h"
#include "validation/report/target_report.h"

namespace assay {
namespace {

void require_target(const TargetFlags& f) {
  const bool used = !f.product.empty() || !f.scheme.empty() || !f.sarif.empty() ||
                    !f.settings.empty() || f.strict;
  if (!used) return;
  throw Error({.what = "--product, --scheme, --setting, --sarif and --strict need --target",
               .expected = fmt::format("--target {}", fmt::join(target_names(), ", "))});
}

}  // namespace

void add_target_flags(CLI::App& app, TargetFlags& f) {
  app.add_option("--target", f.target,
                 fmt::format("judge every layer by this constraint table: {}",
                             fmt::join(target_names(), ", ")));
  app.add_option("--product", f.product, "product of the target, by id or by the document's name");
  app.add_option("--scheme", f.scheme, "uniform (default) or weight-only");
  app.add_option("--setting", f.settings,
                 fmt::format("NAME=VALUE of the quantization, repeatable: {}",
                             fmt::join(setting_names(), ", ")))
      ->type_name("NAME=VALUE");
  app.add_option("--sarif", f.sarif, "file to write the verdicts to, as SARIF 2.1.0");
  app.add_flag("--strict", f.strict,
               "exit 1 when a listed layer cannot be quantized, or loses accuracy");
}

std::optional<TargetReport> judge_target(const Graph& g, const TargetFlags& f,
                                         const std::map<std::string, Shape>& shapes,
                                         const std::string& model) {
  if (f.target.empty()) {
    require_target(f);
    return std::nullopt;
  }
  TargetQuery query{.target = f.target, .product = f.product};
  if (!f.scheme.empty()) query.scheme = f.scheme;
  for (const std::string& text : f.settings) query.settings.insert(parse_setting(text));
  TargetReport report = judge_graph(g, query, shapes);
  if (!f.sarif.empty()) write_file(f.sarif, to_sarif(report, model));
  return report;
}

int exit_code(const TargetReport& r, const TargetFlags& f) {
  if (!f.strict || !r.fails_strict()) return 0;
  std::cerr << fmt::format(
      "assay: target {}: {} layers cannot be quantized, {} lose accuracy{} (--strict)\n",
      r.target->name, r.count(LayerAnswer::no), r.count(LayerAnswer::degrades),
      r.table->statements.empty() ? "" : ", and the source rules the scheme out");
  return 1;
}

}  // namespace assay
