// NumPy files: .npy (format 1.0 to 3.0) and .npz (a zip of .npy), read and written.
// Format: numpy.lib.format in the NumPy documentation. Written files are version 1.0, C order,
// little endian, so that equal tensors give equal bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runtime/tensor.h"

namespace assay {

/// Throws Error naming the file: unreadable, truncated, not NumPy, element type without a
/// counterpart.
Tensor read_npy(const std::filesystem::path& file);
/// As read_npy, from memory; `where` names the source in errors.
Tensor parse_npy(std::span<const std::byte> bytes, const std::string& where);
/// Arrays of a .npz by name (without ".npy").
std::map<std::string, Tensor> read_npz(const std::filesystem::path& file);

/// The exact bytes of the .npy file of `t`. bfloat16 is stored as uint16 bits; dd is not storable
/// (assertion).
std::string npy_bytes(const Tensor& t);
void write_npy(const std::filesystem::path& file, const Tensor& t);

}  // namespace assay
