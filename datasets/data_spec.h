// data.json ("assay-data/1"): what the samples are and how they become the network's inputs
// (docs/schemas/assay-data-1.json).
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image.h"
#include "runtime/tensor.h"

namespace assay {

struct CropSpec {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct InputSpec {
  std::string name;
  std::string kind = "image";  ///< image, npy, npz, pb, raw
  std::string color = "rgb";   ///< rgb, bgr, gray
  std::optional<ResizeSpec> resize = {};
  std::optional<CropSpec> crop = {};
  double scale = 1;  ///< pixel * scale, then (x - mean) / std, in double, rounded once to `dtype`
  std::vector<double> mean = {};  ///< one value, or one per channel; empty is 0
  std::vector<double> std = {};   ///< likewise; empty is 1
  std::string layout = "NCHW";    ///< NCHW or NHWC
  DType dtype = DType::float32;
  Shape shape = {};  ///< raw: the shape of one sample with its leading 1
};

struct TaskSpec {
  std::string kind = "none";
  std::string output = {};      ///< which output it reads; empty: the first
  nlohmann::json options = {};  ///< further fields of the task (charset, classes, ...)
};

struct DataSpec {
  std::vector<InputSpec> inputs = {};
  std::map<std::string, std::string> splits = {};
  TaskSpec task = {};
  std::int64_t batch = 16;
};

/// Throws Error naming file and field.
DataSpec read_data_spec(const std::filesystem::path& file);

/// Applies resize, crop, colour order, scale, mean and std: a tensor [1, C, H, W] (or [1, H, W,
/// C]).
Tensor image_tensor(Image image, const InputSpec& spec);
/// The same arithmetic for pixels that are decoded already: uint8 [N, C, H, W].
Tensor pixel_tensor(const Tensor& pixels, const InputSpec& spec);

}  // namespace assay
