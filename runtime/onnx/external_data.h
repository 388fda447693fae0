// External tensor data: which paths a model may name, and the bytes behind them.
//
// A path from a model is hostile. The rule, on reading and on writing:
//   * a location is relative, not empty, has no zero byte, no "." or ".." part and no drive or
//   root;
//   * it is looked for in the folder of the path the model was opened by, then (when the model file
//   is itself a link) in the
//     folder of the file the link leads to;
//   * after all links are resolved, the file lies inside one of these two folders (themselves
//   resolved);
//   * it is a regular file with one name only: a second hard link may be a file outside under
//   another name.
// All of it is checked before the file is opened.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/mapped_file.h"
#include "runtime/tensor.h"

namespace assay {

/// A part of a file that a tensor's data lie in.
struct ExternalPlace {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length = {};  ///< the number of bytes that the model states
};

/// Why a location cannot be accepted by its text alone, or empty. `location` uses '/'.
std::string refused_location(const std::string& location);

/// Where data of `model_file` with this location may be written: a file that would lie inside the
/// model's folder. Throws Error when the location, or a link on the way, leads elsewhere.
std::filesystem::path external_target(const std::filesystem::path& model_file,
                                      const std::string& location);

/// The files beside one model, each mapped once.
class ExternalData {
 public:
  /// An empty path stands for a model that has no folder; every location is then refused.
  explicit ExternalData(std::filesystem::path model_file) : model_file_(std::move(model_file)) {}

  /// The tensor's elements as a view of the mapped file, copied only when misaligned. Throws Error
  /// naming location, expected and found bytes.
  Tensor read(DType dtype, const Shape& shape, const ExternalPlace& place);

 private:
  std::shared_ptr<const MappedFile> mapping(const std::string& location);

  std::filesystem::path model_file_;
  std::map<std::string, std::shared_ptr<const MappedFile>> mappings_;
};

}  // namespace assay
