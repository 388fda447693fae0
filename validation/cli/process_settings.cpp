#include "validation/cli/process_settings.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace assay {
namespace {

/// True when the variable was missing and now has the value.
bool set_missing(const char* name, const char* value) {
  return std::getenv(name) == nullptr && setenv(name, value, 1) == 0;
}

/// libgomp waits by policy or by count; either of them counts as the caller's choice.
bool set_waiting(bool active) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    return false;
  }
  return active ? set_missing("OMP_WAIT_POLICY", "active") : set_missing("GOMP_SPINCOUNT", "5000");
}

// hugetlb=1 asks for transparent huge pages. The two thresholds keep large blocks in the heap, where
// the next tensor finds them: by default glibc maps and unmaps every block above 32 MiB at most.
constexpr const char* memory_tunables =
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:"
    "glibc.malloc.trim_threshold=8589934592";

}  // namespace

void restart_with_process_settings(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const bool waiting = set_waiting(std::strcmp(argv[1], "bench") == 0);
  const bool memory = set_missing("GLIBC_TUNABLES", memory_tunables);
  // execv comes back only when it fails; then the run goes on with the defaults.
  if (waiting || memory) execv("/proc/self/exe", argv);
}

}  // namespace assay
