// Published hashes ("assay-hashes/1"): what networks must give on every machine.
//
// {"schema": "assay-hashes/1", "models": {NAME: {"sha256": of the file, for model files,
//   "evaluations": {EVALUATION: {VALUE: 32 hexadecimal digits}}}}}
// The table of the built-in networks, hashes.json, is part of the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "validation/selftest/determinism.h"

namespace assay::selftest {

struct PublishedModel {
  std::string sha256 = {};  ///< of the model file; empty for a built-in network
  std::map<std::string, Hashes> evaluations = {};
};
using HashTable = std::map<std::string, PublishedModel>;

/// Throws Error naming the file and the field.
HashTable read_hash_table(const std::filesystem::path& file);
HashTable published_hashes();
/// The table of outcomes; `sha256` is that of the model file, if there is one.
HashTable table_of(const std::vector<Outcome>& outcomes, const std::string& sha256);
std::string to_json_text(const HashTable& table);

}  // namespace assay::selftest
