// assay merge: joins the outputs of `assay validate --shard K/N`.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "validation/cli/cli.h"
#include "validation/session/validate.h"

namespace assay::merge_command {
namespace {

struct Flags {
  std::vector<std::filesystem::path> parts;
  std::filesystem::path out, gates;
  bool quiet = false;
};

std::function<int()> setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.footer("Example: assay merge out/part1 out/part2 -o out/all");
  app.add_option("parts", f->parts, "output folders of the shards")->required();
  app.add_option("-o,--out", f->out, "folder for the joined report")->required();
  app.add_option("--gates", f->gates, "the gates of the run (assay-gates/1)");
  app.add_flag("--quiet", f->quiet, "print nothing");
  return [f] {
    const ValidateResult result = merge_shards(f->parts, f->out, f->gates);
    if (!f->quiet)
      std::cout << result.summary << "report: " << (f->out / "report.html").string() << '\n';
    return result.exit_code;
  };
}

const RegisterCommand registered{
    {"merge", "join the shards of a validate run into one report", setup}};

}  // namespace
}  // namespace assay::merge_command
