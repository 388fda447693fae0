// Graph to ONNX files that other tools load.
//
// Nodes of Assay's own domain are written together with a model-local function of the same name, so
// that any tool can run them. The function's body is OpDef::decompose of the node, under two
// conventions that let all calls share one body:
//   * an attribute of a body node that has the name and the value of an attribute of the fused node
//   is written as a reference
//     to it (a fused convolution hands on its strides);
//   * an initializer of the body that has the name of a number attribute of the fused node, and its
//   value, is written as a
//     Constant that refers to it (a Clip inside gets its bound from the attribute "max").
// A body that differs all the same becomes a further function NAME__2, NAME__3; the reader takes
// the number off again.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/graph.h"

namespace assay {

struct WriteOptions {
  /// Beyond this many bytes of weights they go to `NAME.data` beside the model (a protobuf file
  /// ends at 2 GiB).
  std::int64_t max_inline_bytes = (std::int64_t{1} << 31) - (std::int64_t{1} << 26);
};

/// Writes the graph: same graph, same bytes. The file is made beside `path` and renamed. Throws
/// Error naming the file when it cannot be written, and for element types that cannot.
void write_onnx(const Graph& graph, const std::filesystem::path& path,
                const WriteOptions& options = {});

/// The file's bytes. Throws Error when they exceed 2 GiB.
std::string onnx_bytes(const Graph& graph);

/// Writes one tensor as a TensorProto file (`input_0.pb` of ONNX test data).
void write_tensor_file(const Tensor& tensor, const std::string& name,
                       const std::filesystem::path& path);

}  // namespace assay
