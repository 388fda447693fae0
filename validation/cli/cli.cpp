#include "validation/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <new>
#include <vector>

#include "runtime/error.h"
#include "validation/cli/version.h"

namespace assay {
namespace {

std::vector<Command>& commands() {
  static std::vector<Command> list;
  return list;
}

constexpr const char* footer =
    "Exit codes: 0 pass, 1 a gate failed, 2 wrong usage or unreadable input, 3 unsupported "
    "operator or type,\n"
    "4 undecided under --strict, 5 golden stale or hash mismatch, 6 performance regression, 70 "
    "internal error.\n"
    "Each command has --help with an example.";

int report(const std::string& message, int code) {
  std::cerr << "assay: " << message << '\n';
  return code;
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app{
      "Assay: what every fusion and every quantization step did to a network's numbers, proved.",
      "assay"};
  app.set_version_flag("--version", std::string("assay ") + version);
  app.require_subcommand(1);
  app.footer(footer);
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions;
  std::sort(commands().begin(), commands().end(),
            [](const Command& a, const Command& b) { return a.name < b.name; });
  const std::vector<std::string_view> words(argv, argv + argc);
  for (const Command& c : commands()) {
    CLI::App* sub = app.add_subcommand(c.name, c.summary);
    // The options of a command cost time to set up (tables are read for their help); only the one
    // that is called needs them.
    if (std::find(words.begin(), words.end(), c.name) == words.end()) continue;
    actions.emplace_back(sub, c.setup(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return report(std::string(e.what()) + "; see assay --help",
                  static_cast<int>(ErrorKind::bad_input));
  }
  for (const auto& [sub, action] : actions) {
    if (sub->parsed()) return action();
  }
  return static_cast<int>(ErrorKind::bad_input);
}

}  // namespace

RegisterCommand::RegisterCommand(Command command) { commands().push_back(std::move(command)); }

int run_command_line(int argc, const char* const* argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& e) {
    return report(e.what(), static_cast<int>(e.kind()));
  } catch (const std::bad_alloc&) {
    return report("out of memory", static_cast<int>(ErrorKind::bad_input));
  } catch (const std::exception& e) {
    return report(std::string("internal error: ") + e.what(),
                  static_cast<int>(ErrorKind::internal));
  }
}

}  // namespace assay
