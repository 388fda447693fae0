// Records: what a run keeps of each sample. A report is made from the records of all samples in
// order, so that a run that was resumed, or joined from shards, gives the same bytes as a run in
// one go.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "validation/pair_stats.h"

namespace assay {

struct FormRecord {
  nlohmann::ordered_json answer = nullptr;         ///< the task's prediction
  std::vector<std::optional<double>> scores = {};  ///< one per metric of the task
  PairStats error = {};                            ///< of all float outputs against the original's
};

struct SampleRecord {
  std::int64_t index = 0;
  std::string id = {};
  std::map<std::string, FormRecord> forms = {};
};

nlohmann::ordered_json to_json(const PairStats& s);
PairStats pair_stats_from_json(const nlohmann::json& j);
nlohmann::ordered_json to_json(const SampleRecord& r);
SampleRecord record_from_json(const nlohmann::json& j);

/// Records on disk while a run goes on: one JSON line each, flushed per batch. A torn last line
/// (the run was killed) is dropped.
class RecordFile {
 public:
  /// `key` identifies the run; a file with another key is started anew. An empty path keeps nothing
  /// on disk.
  RecordFile(std::filesystem::path file, std::string key, bool resume);
  ~RecordFile();
  const std::map<std::int64_t, SampleRecord>& records() const { return records_; }
  void add(const std::vector<SampleRecord>& batch);
  void remove();

 private:
  std::filesystem::path file_;
  std::map<std::int64_t, SampleRecord> records_;
  int fd_ = -1;
};

}  // namespace assay
