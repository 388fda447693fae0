#include "validation/cli/progress.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace assay {
namespace {

constexpr int bar_width = 30;

}  // namespace

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { end_line(); }

void ProgressBar::end_line() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

void ProgressBar::show(const std::string& what, std::int64_t done, std::int64_t total) {
  if (quiet_) return;
  if (what != last_) {
    end_line();
    last_ = what;
    last_tenth_ = -1;
  }
  if (total == 0) {
    std::fprintf(stderr, "%s\n", what.c_str());
    return;
  }
  const int tenth = static_cast<int>(10 * done / total);
  if (!terminal_) {
    if (tenth != last_tenth_)
      std::fprintf(stderr, "%s: %lld of %lld\n", what.c_str(), static_cast<long long>(done),
                   static_cast<long long>(total));
    last_tenth_ = tenth;
    return;
  }
  const int filled = static_cast<int>(bar_width * done / total);
  std::fprintf(stderr, "\r%s [%s%s] %lld/%lld", what.c_str(),
               std::string(static_cast<std::size_t>(filled), '#').c_str(),
               std::string(static_cast<std::size_t>(bar_width - filled), '.').c_str(),
               static_cast<long long>(done), static_cast<long long>(total));
  std::fflush(stderr);
  open_ = true;
  if (done == total) end_line();
}

bool colour_allowed() { return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace assay
