// No task: only agreement with the original. The answer is the largest element of each row of the
// last axis (of the channel axis for maps), so that "same answer" means the same class, token or
// pixel class everywhere.
#include <nlohmann/json.hpp>

#include "validation/task.h"

namespace assay::none_task {
namespace {

/// Share-like agreement needs one answer per sample: the answers of all rows, hashed by their list.
nlohmann::ordered_json predict(const SampleView& sample) {
  const Tensor& t = sample.outputs.at(sample.output);
  const auto values = to_doubles(t);
  const std::int64_t rank = t.shape().rank();
  const std::int64_t axis = rank == 4 && t.shape()[1] > 1 ? 1 : rank - 1;
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  if (rank == 0 || t.numel() == 0) return answers;
  const std::int64_t classes = t.shape()[axis];
  const std::int64_t inner = t.shape().numel(axis + 1, rank);
  const std::int64_t outer = t.shape().numel(0, axis);
  std::vector<double> row(static_cast<std::size_t>(classes));
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t c = 0; c < classes; ++c) {
        row[static_cast<std::size_t>(c)] =
            values[static_cast<std::size_t>((o * classes + c) * inner + i)];
      }
      // One class: the answer is its sign about one half, as in probability maps.
      const std::int64_t answer = classes == 1 ? (row[0] > 0.5) : argmax(row);
      hash = (hash ^ static_cast<std::uint64_t>(answer)) * 0x100000001B3U;
      if (answers.size() < 8) answers.push_back(answer);
    }
  }
  answers.push_back("rows:" + std::to_string(outer * inner) + ":" + std::to_string(hash));
  return answers;
}

std::vector<std::optional<double>> score(const SampleView&) { return {}; }

const RegisterTask registered{{.kind = "none", .metrics = {}, .predict = predict, .score = score}};

}  // namespace
}  // namespace assay::none_task
