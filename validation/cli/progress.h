// Progress of long work on standard error: a bar on a terminal, plain lines elsewhere, nothing
// under --quiet.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  /// 0 of 0 is a message; otherwise `done` of `total` of the named work.
  void show(const std::string& what, std::int64_t done, std::int64_t total);

 private:
  void end_line();
  bool quiet_;
  bool terminal_;
  bool open_ = false;  ///< a bar without its line break is on the screen
  std::string last_;
  int last_tenth_ = -1;
};

/// Whether standard output may carry colour (a terminal, and NO_COLOR is not set).
bool colour_allowed();

}  // namespace assay
