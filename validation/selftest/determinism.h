// The determinism test: a network's results, as hashes, for every number of threads, batch size and
// instruction set that one build can take.
//
// Hash of a value: the first 128 bits of SHA-256 over
//   TYPE SHAPE\n  sha256(sample 0)\n  sha256(sample 1)\n ...
// where SHAPE is that of one sample and sha256(sample) is the lower-case hexadecimal SHA-256 of its
// elements as they lie in memory (row-major, little endian). So it does not depend on the batch
// size by construction, and nothing of a value is kept but 64 characters per sample.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "runtime/numeric/cpu_isa.h"

namespace assay::selftest {

/// Samples that every network is run on.
inline constexpr std::int64_t samples = 8;

struct Setting {
  int threads = 1;
  std::int64_t batch = 1;
  Isa isa = Isa::sse2;
};
std::string to_string(const Setting& s);
/// threads {1, 2, 3} x batch {1, 8} x the instruction sets of this machine; only batch 1 when
/// samples cannot share one.
std::vector<Setting> settings(bool batched = true);

/// A graph under one evaluation.
struct Subject {
  std::string model;
  std::string evaluation;
  Graph graph;
  Precision precision = Precision::cr;
};
/// The built-in networks under all their evaluations.
std::vector<Subject> built_in_subjects();
/// A model file under "cr", "f32", "f64", "dd", or a numeric profile (a QDQ model, lowered). Throws
/// Error for another evaluation, and for a profile when nothing of the model is quantized.
Subject file_subject(const std::filesystem::path& model, const std::string& evaluation);

using Hashes = std::map<std::string, std::string>;  ///< value name -> 32 hexadecimal digits

struct Outcome {
  std::string model;
  std::string evaluation;
  std::int64_t settings = 0;
  Hashes hashes = {};                         ///< of the first setting
  std::vector<std::string> differences = {};  ///< one line each: value, setting, both hashes
  /// Values that are not one part per sample, so that batches cannot be compared.
  std::vector<std::string> left_out = {};
};

struct Check {
  const Subject& subject;
  const Dataset& data;
  std::vector<Setting> settings;
  Hashes expected = {};     ///< published hashes; none: the first setting's
  bool all_values = false;  ///< every value of a float or 8-bit type, not only the graph's outputs
};
/// Runs the subject on the first `samples` of the data under every setting. Throws Error when no
/// value can be compared.
Outcome check(const Check& check);

}  // namespace assay::selftest
