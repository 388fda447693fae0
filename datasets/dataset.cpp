#include "datasets/dataset.h"

#include <cstring>

#include "datasets/folder_sources.h"

namespace assay {
namespace fs = std::filesystem;

DatasetPtr open_dataset(const fs::path& path, const std::string& split, const Graph& graph) {
  std::error_code code;
  if (!fs::exists(path, code))
    throw Error({.what = "no such file or folder", .where = path.string()});
  DatasetPtr data;
  if (!fs::is_directory(path, code)) {
    if (path.extension() == ".npz") data = open_npz(path, nullptr, graph);
  } else if (fs::exists(path / "data.json", code)) {
    data = open_described(path, split, graph);
  } else {
    data = open_onnx_test_data(path, graph);
    if (!data) data = open_class_folders(path, graph);
  }
  if (!data) {
    throw Error({.what = "not a data set",
                 .where = path.string(),
                 .expected = "a folder with data.json, test_data_set_0/input_0.pb or class folders "
                             "of images, or an .npz",
                 .advice = "see datasets/digits/data.json for an example"});
  }
  if (data->size() == 0) throw Error({.what = "the data set is empty", .where = path.string()});
  return data;
}

bool has_split(const fs::path& path, const std::string& split) {
  std::error_code code;
  if (!fs::exists(path / "data.json", code)) return false;
  return read_data_spec(path / "data.json").splits.count(split) != 0;
}

Tensor stack_rows(const std::vector<Tensor>& parts, const std::string& what) {
  ASSAY_ASSERT(!parts.empty());
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0].shape();
  if (shape.rank() == 0)
    throw Error({.what = "a scalar cannot be stacked into a batch", .where = what});
  std::int64_t rows = 0;
  for (const Tensor& t : parts) {
    Shape same = t.shape();
    if (same.rank() == shape.rank()) same[0] = shape[0];
    if (same != shape || t.dtype() != parts[0].dtype()) {
      throw Error({.what = "samples of unlike shape cannot share a batch",
                   .where = what,
                   .got = describe(t),
                   .expected = describe(parts[0]),
                   .advice = "set \"batch\": 1"});
    }
    rows += t.shape()[0];
  }
  shape[0] = rows;
  Tensor out(parts[0].dtype(), shape);
  std::size_t at = 0;
  for (const Tensor& t : parts) {
    if (t.bytes() > 0) std::memcpy(out.mutable_raw().data() + at, t.raw().data(), t.raw().size());
    at += t.raw().size();
  }
  return out;
}

Batch load_batch(const Dataset& data, std::int64_t begin, std::int64_t end) {
  Batch batch;
  for (std::int64_t i = begin; i < end; ++i) batch.samples.push_back(data.load(i));
  for (const auto& [name, first] : batch.samples.at(0).inputs) {
    std::vector<Tensor> parts;
    for (const Sample& s : batch.samples) parts.push_back(s.inputs.at(name));
    batch.inputs[name] = stack_rows(parts, "input '" + name + "'");
  }
  return batch;
}

}  // namespace assay
