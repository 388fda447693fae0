// ONNX test data: test_data_set_N/input_i.pb in the order of the graph's inputs, output_i.pb in
// that of its outputs.
#include <algorithm>

#include "datasets/folder_sources.h"
#include "runtime/file.h"
#include "runtime/onnx/reader.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

class OnnxTestData : public Dataset {
 public:
  OnnxTestData(std::vector<fs::path> sets, const Graph& graph, const fs::path& folder)
      : sets_(std::move(sets)) {
    for (const ValueId v : graph.inputs()) {
      if (!graph.value(v).initializer.defined()) inputs_.push_back(graph.name(v));
    }
    for (const ValueId v : graph.outputs()) outputs_.push_back(graph.name(v));
    std::string digest;
    for (const fs::path& set : sets_) {
      std::vector<fs::path> files(fs::directory_iterator(set), {});
      std::sort(files.begin(), files.end());
      for (const fs::path& f : files) digest += sha256_of_file(f);
    }
    info_ = {.source = folder.string() + " (ONNX test data)", .digest = sha256(digest), .batch = 1};
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(sets_.size()); }

  Sample load(std::int64_t index) const override {
    const fs::path& set = sets_.at(static_cast<std::size_t>(index));
    Sample s{.id = set.filename().string(), .inputs = read_all(set, "input_", inputs_, true)};
    s.expected = read_all(set, "output_", outputs_, false);
    return s;
  }

 private:
  static Feeds read_all(const fs::path& set, const std::string& stem,
                        const std::vector<std::string>& names, bool required) {
    Feeds found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const fs::path file = set / (stem + std::to_string(i) + ".pb");
      std::error_code code;
      if (!required && !fs::exists(file, code)) continue;
      found[names[i]] = read_tensor_file(file);
    }
    return found;
  }

  std::vector<fs::path> sets_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
};

}  // namespace

DatasetPtr open_onnx_test_data(const fs::path& folder, const Graph& graph) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path());
  }
  if (sets.empty()) return nullptr;
  // test_data_set_10 comes after test_data_set_9
  std::sort(sets.begin(), sets.end(), [](const fs::path& a, const fs::path& b) {
    const auto key = [](const fs::path& p) {
      return std::pair(p.filename().string().size(), p.filename().string());
    };
    return key(a) < key(b);
  });
  return std::make_unique<OnnxTestData>(std::move(sets), graph, folder);
}

}  // namespace assay
