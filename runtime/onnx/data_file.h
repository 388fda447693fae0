// The file beside a model that its large weights are written to.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "runtime/tensor.h"

namespace assay {

/// Collects tensors in a temporary file that `commit` renames; without it nothing stays.
class DataFile {
 public:
  /// `location` is the name that the model gives; external_data.h says which are refused.
  DataFile(const std::filesystem::path& model_file, std::string location);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& location() const { return location_; }
  /// Appends the elements at a page boundary, so that a reader can map them; returns the offset.
  std::int64_t append(const Tensor& tensor);
  void commit();

 private:
  void put(const void* data, std::size_t bytes);
  std::string location_;
  std::filesystem::path target_;
  std::filesystem::path aside_;
  std::FILE* file_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace assay
