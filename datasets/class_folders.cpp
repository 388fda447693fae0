// A folder of class folders with images: the classes are numbered in the order of their sorted
// names.
//
// Without a data.json the preprocessing is the plainest one: resize to the input's size, scale by
// 1/255. The report names it.
#include <algorithm>

#include "datasets/folder_sources.h"
#include "runtime/file.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

bool is_image(const fs::path& file) {
  std::string e = file.extension().string();
  std::transform(e.begin(), e.end(), e.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return e == ".png" || e == ".jpg" || e == ".jpeg" || e == ".pnm" || e == ".ppm" || e == ".pgm";
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> list(fs::directory_iterator(folder), {});
  std::sort(list.begin(), list.end());
  return list;
}

InputSpec plain_spec(const Graph& graph, const fs::path& folder) {
  const auto& inputs = graph.inputs();
  const auto* type = inputs.size() == 1 ? &graph.value(inputs[0]).type : nullptr;
  if (type == nullptr || !type->dims || type->dims->size() != 4) {
    throw Error({.what = "class folders need a model with one image input",
                 .where = folder.string(),
                 .advice = "describe the inputs in a data.json"});
  }
  const auto& dims = *type->dims;
  const std::int64_t height = dims[2].size;
  const std::int64_t width = dims[3].size;
  if ((dims[1].size != 1 && dims[1].size != 3) || height < 1 || width < 1) {
    throw Error({.what = "class folders need an input [N, 1 or 3, height, width] of fixed size",
                 .where = folder.string(),
                 .got = to_string(*type),
                 .advice = "describe the inputs in a data.json"});
  }
  InputSpec spec{.name = graph.name(inputs[0])};
  spec.color = dims[1].size == 1 ? "gray" : "rgb";
  spec.resize = ResizeSpec{.size = {height, width}};
  spec.scale = 1.0 / 255;
  spec.dtype = type->dtype;
  return spec;
}

class ClassFolders : public Dataset {
 public:
  ClassFolders(std::vector<std::pair<fs::path, std::int64_t>> files, InputSpec spec,
               const fs::path& folder)
      : files_(std::move(files)), spec_(std::move(spec)) {
    std::string digest;
    for (const auto& [file, label] : files_) {
      digest += file.lexically_relative(folder).string() + ':' +
                std::to_string(fs::file_size(file)) + '\n';
    }
    info_ = {.source = folder.string() + " (class folders, resized, scale 1/255)",
             .digest = sha256(digest),
             .task = {.kind = "classification"}};
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  Sample load(std::int64_t index) const override {
    const auto& [file, label] = files_.at(static_cast<std::size_t>(index));
    Sample s{.id = file.parent_path().filename().string() + "/" + file.filename().string(),
             .inputs = {},
             .label = label};
    s.inputs[spec_.name] = image_tensor(read_image(file, spec_.color == "gray" ? 1 : 3), spec_);
    return s;
  }

 private:
  std::vector<std::pair<fs::path, std::int64_t>> files_;
  InputSpec spec_;
};

}  // namespace

DatasetPtr open_class_folders(const fs::path& folder, const Graph& graph) {
  std::vector<std::pair<fs::path, std::int64_t>> files;
  std::int64_t label = 0;
  for (const fs::path& entry : sorted_entries(folder)) {
    if (!fs::is_directory(entry)) continue;
    bool any = false;
    for (const fs::path& file : sorted_entries(entry)) {
      if (!is_image(file)) continue;
      files.emplace_back(file, label);
      any = true;
    }
    label += any;
  }
  if (files.empty()) return nullptr;
  return std::make_unique<ClassFolders>(std::move(files), plain_spec(graph, folder), folder);
}

}  // namespace assay
