// Tasks: how one sample's outputs become a prediction and scores. One file per task in
// validation/tasks/.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace assay {

struct SampleView {
  const std::map<std::string, Tensor>& outputs;  ///< of this sample alone, leading axis 1
  std::string output;                            ///< the output that the task reads
  std::optional<std::int64_t> label;
};

struct TaskMetric {
  std::string name;  ///< "top1"
  std::string unit;  ///< "share" for values in [0, 1]
  bool higher_is_better = true;
};

struct Task {
  std::string kind;
  std::vector<TaskMetric> metrics;
  /// What the network answers: compared between forms for agreement.
  nlohmann::ordered_json (*predict)(const SampleView&);
  /// One value per metric, nullopt where the sample has no target; a run's metric is the mean.
  std::vector<std::optional<double>> (*score)(const SampleView&);
};

struct RegisterTask {
  explicit RegisterTask(Task task);
};

/// Throws Error (unsupported) listing the known kinds.
const Task& find_task(const std::string& kind);

/// Index of the largest element of a row, NaN counted as smallest, the first of equals.
std::int64_t argmax(std::span<const double> row);

}  // namespace assay
