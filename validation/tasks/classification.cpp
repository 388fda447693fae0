// Classification: the class with the largest score; top-1 and top-5 against the label.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "validation/task.h"

namespace assay::classification_task {
namespace {

std::vector<double> scores_of(const SampleView& sample) {
  return to_doubles(sample.outputs.at(sample.output));
}

nlohmann::ordered_json predict(const SampleView& sample) { return argmax(scores_of(sample)); }

std::vector<std::optional<double>> score(const SampleView& sample) {
  if (!sample.label) return {std::nullopt, std::nullopt};
  const auto scores = scores_of(sample);
  const auto label = static_cast<std::size_t>(*sample.label);
  if (*sample.label < 0 || label >= scores.size()) {
    throw Error({.what = "label is outside the network's classes",
                 .got = std::to_string(*sample.label),
                 .expected = "0 to " + std::to_string(scores.size() - 1)});
  }
  // Rank of the label: classes with a larger score, and equal ones that come first.
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    rank += scores[i] > scores[label] || (scores[i] == scores[label] && i < label) ||
            scores[label] != scores[label];
  }
  return {rank < 1 ? 1.0 : 0.0, rank < 5 ? 1.0 : 0.0};
}

const RegisterTask registered{
    {.kind = "classification",
     .metrics = {{.name = "top1", .unit = "share"}, {.name = "top5", .unit = "share"}},
     .predict = predict,
     .score = score}};

}  // namespace
}  // namespace assay::classification_task
