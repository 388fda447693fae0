#include "validation/task.h"

#include <nlohmann/json.hpp>

namespace assay {
namespace {

std::map<std::string, Task>& tasks() {
  static std::map<std::string, Task> tasks;
  return tasks;
}

}  // namespace

RegisterTask::RegisterTask(Task task) { tasks().emplace(task.kind, std::move(task)); }

const Task& find_task(const std::string& kind) {
  const auto it = tasks().find(kind);
  if (it != tasks().end()) return it->second;
  std::string list;
  for (const auto& [name, task] : tasks()) list += (list.empty() ? "" : ", ") + name;
  throw Error({.what = "task is not supported",
               .got = "'" + kind + "'",
               .expected = "one of " + list,
               .advice = "use \"none\" with --metric-cmd for your own metric",
               .kind = ErrorKind::unsupported});
}

std::int64_t argmax(std::span<const double> row) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == row[i] && (best < 0 || row[i] > row[static_cast<std::size_t>(best)]))
      best = static_cast<std::int64_t>(i);
  }
  return best;
}

}  // namespace assay
