// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace assay {

class MappedFile {
 public:
  /// Throws Error naming the file: missing, a folder, not readable. An empty file gives an empty
  /// span.
  explicit MappedFile(const std::filesystem::path& path);
  /// Takes over an open descriptor of a regular file; `path` is for messages.
  MappedFile(int descriptor, const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {begin_, static_cast<std::size_t>(size_)}; }
  std::int64_t size() const { return size_; }

 private:
  void map(int descriptor, const std::filesystem::path& path);
  const std::byte* begin_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace assay
