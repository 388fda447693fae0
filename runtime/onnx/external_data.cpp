#include "runtime/onnx/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const std::string& location, const std::string& why) {
  throw Error({.what = "external data refused: " + why,
               .got = "location '" + location + "'",
               .expected = "a regular file inside the folder of the model"});
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end();
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// The model's folder as it was opened and, for a model that is a link, the folder of its target;
/// both resolved.
std::vector<fs::path> allowed_folders(const fs::path& model_file) {
  std::error_code failed;
  std::vector<fs::path> folders;
  for (const fs::path& f : {fs::canonical(folder_of(model_file), failed),
                            folder_of(fs::canonical(model_file, failed))}) {
    if (!f.empty() && std::find(folders.begin(), folders.end(), f) == folders.end()) {
      folders.push_back(f);
    }
  }
  return folders;
}

fs::path resolved(const fs::path& model_file, const std::string& location) {
  const auto folders = allowed_folders(model_file);
  for (const fs::path& folder : folders) {
    std::error_code failed;
    const fs::path file = fs::canonical(folder / location, failed);
    if (failed) continue;
    const bool inside = std::any_of(folders.begin(), folders.end(),
                                    [&](const fs::path& f) { return is_inside(file, f); });
    if (!inside) refuse(location, "a link leads out of the model's folder");
    return file;
  }
  throw Error({.what = "external data file is missing",
               .got = "location '" + location + "'",
               .expected = "the file beside the model"});
}

}  // namespace

std::string refused_location(const std::string& location) {
  if (location.empty()) return "the location is empty";
  if (location.find('\0') != std::string::npos) return "the location has a zero byte";
  if (location.find('\\') != std::string::npos) return "the location has a backslash";
  if (location.front() == '/' || (location.size() > 1 && location[1] == ':')) {
    return "the location is absolute";
  }
  for (const fs::path& part : fs::path(location)) {
    if (part == "..") return "the location steps out of its folder";
    if (part == "." || part.empty()) return "the location names a folder";
  }
  return "";
}

fs::path external_target(const fs::path& model_file, const std::string& location) {
  if (const auto why = refused_location(location); !why.empty()) refuse(location, why);
  const fs::path folder = fs::canonical(folder_of(model_file));
  const fs::path target = folder / location;
  const fs::path parent = fs::weakly_canonical(target.parent_path());
  if (parent != folder && !is_inside(parent, folder)) {
    refuse(location, "a link leads out of the model's folder");
  }
  if (fs::is_symlink(target)) refuse(location, "a link of that name exists");
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    refuse(location, "something that is not a file has that name");
  }
  return target;
}

namespace {

void check_regular(const struct stat& s, const std::string& location) {
  if (!S_ISREG(s.st_mode)) refuse(location, "not a regular file");
  if (s.st_nlink > 1) {
    refuse(location,
           fmt::format("the file has {} hard links, so it may lie outside too", s.st_nlink));
  }
}

/// Checked first, then opened; what was opened must be what was checked.
std::shared_ptr<const MappedFile> open_checked(const fs::path& file, const std::string& location) {
  struct stat before {};
  if (::lstat(file.c_str(), &before) != 0) refuse(location, "the file cannot be read");
  check_regular(before, location);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) refuse(location, std::strerror(errno));
  struct stat opened {};
  if (::fstat(fd, &opened) != 0 || opened.st_ino != before.st_ino ||
      opened.st_dev != before.st_dev) {
    ::close(fd);
    refuse(location, "the file changed while it was opened");
  }
  return std::make_shared<const MappedFile>(fd, file);
}

}  // namespace

std::shared_ptr<const MappedFile> ExternalData::mapping(const std::string& location) {
  if (const auto why = refused_location(location); !why.empty()) refuse(location, why);
  if (model_file_.empty()) refuse(location, "the model was not read from a file");
  auto& known = mappings_[location];
  if (!known) known = open_checked(resolved(model_file_, location), location);
  return known;
}

Tensor ExternalData::read(DType dtype, const Shape& shape, const ExternalPlace& place) {
  const auto file = mapping(place.location);
  const std::int64_t want = bytes_of(dtype, shape);
  if (place.length && *place.length != want) {
    throw Error(
        {.what = "external data of the wrong length",
         .got = fmt::format("{} bytes", *place.length),
         .expected = fmt::format("{} bytes for {} {}", want, to_string(dtype), to_string(shape))});
  }
  if (place.offset < 0 || place.offset > file->size() || want > file->size() - place.offset) {
    throw Error({.what = "external data file '" + place.location + "' is too short",
                 .got = fmt::format("{} bytes", file->size()),
                 .expected = fmt::format("{} bytes from offset {}", want, place.offset)});
  }
  const std::byte* begin = file->bytes().data() + place.offset;
  Tensor view(dtype, shape, std::shared_ptr<const std::byte>(file, begin));
  const bool aligned = reinterpret_cast<std::uintptr_t>(begin) % 16 == 0;
  return aligned || want == 0 ? view : view.clone();
}

}  // namespace assay
