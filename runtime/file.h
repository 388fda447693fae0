// Files: whole reads, and writes that are either there or not.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace assay {

/// The bytes of a file. Throws Error naming it.
std::string read_file(const std::filesystem::path& file);

/// Written beside under a temporary name, flushed, then renamed: readers see the old file or the
/// new one.
void write_file(const std::filesystem::path& file, std::string_view bytes);

/// A folder that appears in one step: `fill` writes into a temporary folder beside `target`, which
/// then takes target's place (an existing one is swapped out atomically and removed). When `fill`
/// throws, target is untouched.
void write_folder(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path&)>& fill);

/// Throws Error when `target` (a folder to be made or replaced) could not be written: checked
/// before long work.
void check_writable_folder(const std::filesystem::path& target);

/// Letters, digits and "._-" stay, everything else becomes '_': the file name of a tensor.
std::string file_name_of(const std::string& tensor_name);

/// Lower-case hex SHA-256.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace assay
