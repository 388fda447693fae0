#include "runtime/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "runtime/error.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void cannot(const std::string& what, const fs::path& file, int code) {
  throw Error({.what = what + ": " + std::strerror(code), .where = file.string()});
}

fs::path beside(const fs::path& target) {
  fs::path clean = target.lexically_normal();
  if (clean.filename().empty()) clean = clean.parent_path();
  return clean.parent_path() /
         ("." + clean.filename().string() + "." + std::to_string(getpid()) + ".part");
}

void write_all(int fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      const int code = errno;
      close(fd);
      cannot("cannot write", file, code);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// renameat2(RENAME_EXCHANGE): both names stay valid at every moment.
bool exchange(const fs::path& a, const fs::path& b) {
  constexpr unsigned rename_exchange = 2;
  return syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), rename_exchange) == 0;
}

void put_in_place(const fs::path& made, const fs::path& target) {
  if (rename(made.c_str(), target.c_str()) == 0) return;  // target missing or an empty folder
  if (!exchange(made, target)) cannot("cannot replace the folder", target, errno);
  std::error_code ignored;
  fs::remove_all(made, ignored);
}

}  // namespace

std::string read_file(const fs::path& file) {
  std::error_code code;
  if (fs::is_directory(file, code))
    throw Error({.what = "is a folder, not a file", .where = file.string()});
  errno = 0;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) cannot("cannot read", file, errno ? errno : ENOENT);
  std::string bytes(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    cannot("cannot read", file, EIO);
  return bytes;
}

void write_file(const fs::path& file, std::string_view bytes) {
  const fs::path part = beside(file);
  const int fd = open(part.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) cannot("cannot write", file, errno);
  write_all(fd, bytes, file);
  fsync(fd);
  close(fd);
  if (rename(part.c_str(), file.c_str()) != 0) {
    const int code = errno;
    unlink(part.c_str());
    cannot("cannot write", file, code);
  }
}

void write_folder(const fs::path& target, const std::function<void(const fs::path&)>& fill) {
  const fs::path part = beside(target);
  std::error_code code;
  fs::remove_all(part, code);
  fs::create_directories(part, code);
  if (code) cannot("cannot make the folder", target, code.value());
  try {
    fill(part);
    put_in_place(part, target.filename().empty() ? target.parent_path() : target);
  } catch (...) {
    fs::remove_all(part, code);
    throw;
  }
}

void check_writable_folder(const fs::path& target) {
  const fs::path part = beside(target);
  std::error_code code;
  if (fs::exists(target, code) && !fs::is_directory(target, code)) {
    throw Error({.what = "is not a folder",
                 .where = target.string(),
                 .expected = "a folder to write into"});
  }
  fs::create_directories(part, code);
  if (code) cannot("cannot make the folder", target, code.value());
  fs::remove_all(part, code);
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  ASSAY_ASSERT(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) == 1);
  static constexpr char hex[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += hex[digest[i] >> 4];
    text += hex[digest[i] & 15];
  }
  return text;
}

std::string sha256_of_file(const fs::path& file) { return sha256(read_file(file)); }

std::string file_name_of(const std::string& name) {
  std::string file = name;
  for (char& c : file) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return file;
}

}  // namespace assay
