// ONNX files to Graph.
//
// What a read graph is: names are unique and wired (nodes sorted, also in subgraphs), Constant
// nodes are initializers, the initializers of files before IR 4 are constants although listed as
// inputs, model-local functions are inlined (those of Assay's own domain whose operator is
// registered stay nodes), nameless nodes are named after operator and first output. Nothing of the
// file is trusted: sizes, depth, names and paths are checked, and every fault is one Error that
// names the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "runtime/graph.h"

namespace assay {

struct ReadOptions {
  int max_nesting = 64;  ///< subgraphs inside subgraphs, and functions inside functions
  std::int64_t max_nodes = 1'000'000;  ///< of the model, after functions are inlined
};

/// Reads a model file and the external data beside it (external_data.h has the rule for paths).
/// Weights are views of the parsed file or of the mapped data file, not copies.
Graph read_onnx(const std::filesystem::path& path, const ReadOptions& options = {});

/// A model from memory; external data are refused.
Graph read_onnx(std::span<const std::byte> bytes, const ReadOptions& options = {});

/// One tensor from a file that holds a TensorProto (`input_0.pb` of ONNX test data); `name`
/// receives its name if not null.
Tensor read_tensor_file(const std::filesystem::path& path, std::string* name = nullptr);

}  // namespace assay
