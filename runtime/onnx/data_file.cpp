#include "runtime/onnx/data_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/onnx/external_data.h"

namespace assay {

constexpr std::int64_t page = 4096;

DataFile::DataFile(const std::filesystem::path& model_file, std::string location)
    : location_(std::move(location)), target_(external_target(model_file, location_)) {
  aside_ = fmt::format("{}.{}.tmp", target_.string(), ::getpid());
  file_ = std::fopen(aside_.c_str(), "wb");
  if (file_ == nullptr) {
    throw Error(
        {.what = "cannot write the file", .where = target_.string(), .got = std::strerror(errno)});
  }
}

DataFile::~DataFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void DataFile::put(const void* data, std::size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) {
    throw Error(
        {.what = "cannot write the file", .where = target_.string(), .got = std::strerror(errno)});
  }
  size_ += static_cast<std::int64_t>(bytes);
}

std::int64_t DataFile::append(const Tensor& tensor) {
  const std::vector<char> gap(static_cast<std::size_t>((page - size_ % page) % page), 0);
  put(gap.data(), gap.size());
  const std::int64_t offset = size_;
  put(tensor.raw().data(), tensor.raw().size());
  return offset;
}

void DataFile::commit() {
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed || ::rename(aside_.c_str(), target_.c_str()) != 0) {
    throw Error(
        {.what = "cannot write the file", .where = target_.string(), .got = std::strerror(errno)});
  }
  aside_.clear();
}

}  // namespace assay
