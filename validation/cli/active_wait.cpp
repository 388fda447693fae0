#include "validation/cli/active_wait.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace assay {

void restart_with_active_waiting(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  // Other commands share the machine with other work: a thread that spins for long holds a core that its partner waits for.
  const bool bench = std::strcmp(argv[1], "bench") == 0;
  if (setenv(bench ? "OMP_WAIT_POLICY" : "GOMP_SPINCOUNT", bench ? "active" : "5000", 1) != 0) return;
  execv("/proc/self/exe",
        argv);  // comes back only when it fails; then the run goes on with the default policy
}

}  // namespace assay
