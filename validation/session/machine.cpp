#include "validation/session/machine.h"

#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/isa.h"
#include "runtime/numeric/parallel.h"
#include "validation/cli/version.h"

namespace assay {
namespace {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(':');
    return colon == std::string::npos ? line : line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

nlohmann::ordered_json machine_json() {
  utsname os{};
  uname(&os);
  return {{"cpu", cpu_name()},
          {"isa", kernels::effective_isa()},
          {"threads", num_threads()},
          {"os", std::string(os.sysname) + " " + os.machine}};
}

nlohmann::ordered_json tool_json() {
  return {{"name", "assay"}, {"version", version}, {"compiler", std::string(__VERSION__)}};
}

}  // namespace assay
