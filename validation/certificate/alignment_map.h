// Pairs of value names that a user gives for another tool's graph ("assay-map/1").
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay {

/// Name in the other graph -> name in the original; nothing when `file` is empty. Throws Error for
/// a file that is not such a map, a name that occurs twice, and pairs whose tensors would have to
/// be rearranged or rescaled (perm, slice, scale, zero_point): a region's values must be the same
/// tensors.
std::map<std::string, std::string> read_alignment_map(const std::filesystem::path& file);

}  // namespace assay
