// Golden packs ("assay-golden/1"): expected tensors with what they were made from.
//
// A pack is a folder: manifest.json and .npy tensors, the same bytes on every machine. Inputs are
// part of it, so that a pack can be verified, and run by others, without the data set.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "runtime/op.h"

namespace assay {

struct GoldenRequest {
  std::filesystem::path model;
  std::string form = "original";  ///< original, fused or int8 (model is then a QDQ graph)
  std::string mode = "all";       ///< fusion set of form fused
  std::string profile = "onnx-qdq";
  Precision precision = Precision::cr;
  std::vector<std::string> taps = {"outputs"};  ///< "outputs", "all", or value names
  std::int64_t samples = 1;
  std::uint64_t seed = 1;
};

/// Writes a pack at `out` in one step. Throws Error naming a tap that the graph does not have.
void make_golden(const GoldenRequest& request, const Dataset& data,
                 const std::filesystem::path& out);

struct GoldenCheck {
  bool ok = true;
  std::vector<std::string> faults;  ///< one line per fault: file, tensor, first bad element
  std::int64_t tensors = 0;
};

/// Checks every file of a pack against its hash; with `model` (or when the manifest's model lies
/// beside) recomputes every tensor from the stored inputs and compares bits. A model with another
/// hash is a stale pack.
GoldenCheck verify_golden(const std::filesystem::path& pack, const std::filesystem::path& model);

}  // namespace assay
