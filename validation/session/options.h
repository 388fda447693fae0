// What a validation run is asked to do: the flags of `assay validate` (docs/cli.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/shape.h"

namespace assay {

struct ValidateOptions {
  std::filesystem::path model;
  std::filesystem::path data = {};  ///< empty: synthetic fill
  std::string split = {};
  std::filesystem::path fused = {};
  std::filesystem::path quantized = {};
  std::filesystem::path map = {};
  std::filesystem::path gates = {};
  std::filesystem::path baseline = {};
  std::filesystem::path update_baseline = {};
  std::filesystem::path config = {};
  std::filesystem::path out = {};
  std::filesystem::path scores = {};
  std::string metric_cmd = {};
  std::string mode = "all";
  std::vector<std::string> skip = {};
  std::string scheme = {};
  std::string target = {};   ///< constraint table that Assay's quantizer obeys
  std::string product = {};  ///< of the target
  std::string profile = "onnx-qdq";
  std::map<std::string, Shape> shapes = {};
  std::map<std::string, std::filesystem::path> inputs = {};  ///< --input NAME=FILE: one sample
  std::int64_t limit = 0;                                    ///< 0: all samples
  std::int64_t shard = 1, shards = 1;
  std::int64_t certify_samples = 2;
  std::int64_t layer_samples = 16;
  std::int64_t calibration_samples = 0;  ///< 0: the whole calibration split
  std::int64_t synthetic_samples = 8;
  std::uint64_t seed = 1;
  bool bisect = false;  ///< how much each fused instance moves the result
  bool resume = false;
  bool strict = false;
  bool quiet = false;
  bool json = false;
  bool force = false;  ///< calibrate on the test split all the same
};

}  // namespace assay
