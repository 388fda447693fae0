// The command line: one sub-command per file (RegisterCommand), errors turned into one line and an
// exit code here.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace assay {

/// A sub-command: `setup` adds options to its CLI11 app and returns what to run; that returns the
/// exit code.
struct Command {
  std::string name;
  std::string summary;
  std::function<std::function<int()>(CLI::App&)> setup;
};

struct RegisterCommand {
  explicit RegisterCommand(Command command);
};

/// Parses and runs; never throws. Returns the exit code (design: 0 pass, 1 gate, 2 usage, 3
/// unsupported, 4 undecided, 5 stale, 6 slower, 70 internal).
int run_command_line(int argc, const char* const* argv);

}  // namespace assay
