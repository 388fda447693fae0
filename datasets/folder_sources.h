// The sources behind open_dataset; each returns nullptr when `path` is not of its kind.
#pragma once

#include "datasets/dataset.h"

namespace assay {

/// data.json with splits.
DatasetPtr open_described(const std::filesystem::path& folder, const std::string& split,
                          const Graph& graph);
/// test_data_set_*/input_i.pb and output_i.pb.
DatasetPtr open_onnx_test_data(const std::filesystem::path& folder, const Graph& graph);
/// One folder per class, in the order of their sorted names; needs one image-like input of fixed
/// spatial size.
DatasetPtr open_class_folders(const std::filesystem::path& folder, const Graph& graph);
/// One .npz by input names; `spec` carries preprocessing when there is a data.json.
DatasetPtr open_npz(const std::filesystem::path& file, const DataSpec* spec, const Graph& graph);

}  // namespace assay
