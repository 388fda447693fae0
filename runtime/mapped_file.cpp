#include "runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/error.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& what, int number) {
  throw Error({.what = what, .where = path.string(), .got = std::strerror(number)});
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(path, "cannot open the file", errno);
  map(fd, path);
}

MappedFile::MappedFile(int descriptor, const fs::path& path) { map(descriptor, path); }

void MappedFile::map(int descriptor, const fs::path& path) {
  struct stat s {};
  const bool known = ::fstat(descriptor, &s) == 0;
  if (!known || !S_ISREG(s.st_mode)) {
    ::close(descriptor);
    throw Error({.what = "not a regular file",
                 .where = path.string(),
                 .got = known && S_ISDIR(s.st_mode) ? "a folder" : "a special file",
                 .expected = "a file"});
  }
  size_ = s.st_size;
  void* memory = nullptr;
  if (size_ > 0) {
    memory =
        ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  const int number = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED) fail(path, "cannot map the file", number);
  begin_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (begin_ != nullptr) ::munmap(const_cast<std::byte*>(begin_), static_cast<std::size_t>(size_));
}

}  // namespace assay
