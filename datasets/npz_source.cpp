// One .npz: arrays by input name, first axis the samples; "target" holds the labels.
#include "datasets/folder_sources.h"
#include "runtime/file.h"
#include "runtime/npy.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

class NpzDataset : public Dataset {
 public:
  NpzDataset(const fs::path& file, const DataSpec* spec, const Graph& graph) {
    if (spec != nullptr) spec_ = *spec;
    arrays_ = read_npz(file);
    if (const auto it = arrays_.find("target"); it != arrays_.end()) {
      labels_ = to_ints(it->second);
      arrays_.erase(it);
    }
    for (const ValueId v : graph.inputs()) {
      const std::string& name = graph.name(v);
      if (!arrays_.count(name) && !graph.value(v).initializer.defined()) {
        throw Error({.what = "no array for input '" + name + "'", .where = file.string()});
      }
    }
    for (const auto& [name, t] : arrays_) {
      if (t.shape().rank() == 0)
        throw Error({.what = "array '" + name + "' has no sample axis", .where = file.string()});
      if (size_ >= 0 && t.shape()[0] != size_) {
        throw Error({.what = "arrays have unlike numbers of samples",
                     .where = file.string(),
                     .got = name + " " + to_string(t.shape()),
                     .expected = std::to_string(size_)});
      }
      size_ = t.shape()[0];
    }
    if (!labels_.empty() && static_cast<std::int64_t>(labels_.size()) != size_) {
      throw Error({.what = "target has the wrong length",
                   .where = file.string(),
                   .got = std::to_string(labels_.size()),
                   .expected = std::to_string(size_)});
    }
    info_ = {.source = file.string(),
             .digest = sha256_of_file(file),
             .task = {.kind = labels_.empty() ? "none" : "classification"}};
  }

  std::int64_t size() const override { return size_ < 0 ? 0 : size_; }

  Sample load(std::int64_t index) const override {
    Sample s{.id = std::to_string(index), .inputs = {}};
    for (const auto& [name, t] : arrays_) s.inputs[name] = row(name, t.rows(index, index + 1));
    if (!labels_.empty()) s.label = labels_.at(static_cast<std::size_t>(index));
    return s;
  }

 private:
  /// 8-bit arrays under an input of kind "image" are pixels and take the same preprocessing as a
  /// file.
  Tensor row(const std::string& name, const Tensor& t) const {
    for (const InputSpec& in : spec_.inputs) {
      if (in.name != name || in.kind != "image") continue;
      if (t.dtype() == DType::uint8 && t.shape().rank() == 4) return pixel_tensor(t, in);
    }
    return t;
  }

  DataSpec spec_;
  std::map<std::string, Tensor> arrays_;
  std::vector<std::int64_t> labels_;
  std::int64_t size_ = -1;
};

}  // namespace

DatasetPtr open_npz(const fs::path& file, const DataSpec* spec, const Graph& graph) {
  return std::make_unique<NpzDataset>(file, spec, graph);
}

}  // namespace assay
