#include "validation/session/records.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "runtime/error.h"
#include "runtime/file.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// Sums are stored as their bits: text would have to round-trip through decimal in every reader.
std::string hex(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

double unhex(const nlohmann::json& j) { return std::strtod(j.get<std::string>().c_str(), nullptr); }

struct Sum {
  const char* key;
  double PairStats::*field;
};
constexpr Sum sums[] = {
    {"max_abs", &PairStats::max_abs},           {"max_rel", &PairStats::max_rel},
    {"max_ulp", &PairStats::max_ulp},           {"abs", &PairStats::sum_abs},
    {"error", &PairStats::sum_error},           {"error2", &PairStats::sum_error2},
    {"reference2", &PairStats::sum_reference2}, {"other2", &PairStats::sum_other2},
    {"product", &PairStats::sum_product}};

struct Count {
  const char* key;
  std::int64_t PairStats::*field;
};
constexpr Count counts[] = {{"count", &PairStats::count},
                            {"different", &PairStats::different},
                            {"nan_reference", &PairStats::nan_reference},
                            {"nan_other", &PairStats::nan_other},
                            {"inf_reference", &PairStats::inf_reference},
                            {"inf_other", &PairStats::inf_other},
                            {"nonfinite_mismatch", &PairStats::nonfinite_mismatch},
                            {"zero_reference", &PairStats::zero_reference},
                            {"sign_flips", &PairStats::sign_flips},
                            {"max_abs_at", &PairStats::max_abs_at}};

}  // namespace

Json to_json(const PairStats& s) {
  Json j;
  for (const Count& c : counts) j[c.key] = s.*c.field;
  for (const Sum& x : sums) j[x.key] = hex(s.*x.field);
  Json bins = Json::array();
  for (std::size_t i = 0; i < s.histogram.size(); ++i) {
    if (s.histogram[i] != 0) bins.push_back({i, s.histogram[i]});
  }
  j["histogram"] = std::move(bins);
  j["worst"] = s.worst;
  return j;
}

PairStats pair_stats_from_json(const nlohmann::json& j) {
  PairStats s;
  for (const Count& c : counts) s.*c.field = j.at(c.key).get<std::int64_t>();
  for (const Sum& x : sums) s.*x.field = unhex(j.at(x.key));
  for (const auto& bin : j.at("histogram"))
    s.histogram.at(bin.at(0).get<std::size_t>()) = bin.at(1).get<std::int64_t>();
  s.worst = j.at("worst").get<std::vector<std::int64_t>>();
  return s;
}

Json to_json(const SampleRecord& r) {
  Json j{{"index", r.index}, {"id", r.id}};
  for (const auto& [form, f] : r.forms) {
    Json scores = Json::array();
    for (const auto& s : f.scores) scores.push_back(s ? Json(*s) : Json());
    j["forms"][form] = {
        {"answer", f.answer}, {"scores", std::move(scores)}, {"error", to_json(f.error)}};
  }
  return j;
}

SampleRecord record_from_json(const nlohmann::json& j) {
  SampleRecord r{.index = j.at("index").get<std::int64_t>(), .id = j.at("id").get<std::string>()};
  for (const auto& [form, f] : j.at("forms").items()) {
    FormRecord record{.answer = f.at("answer")};
    for (const auto& s : f.at("scores"))
      record.scores.push_back(s.is_null() ? std::nullopt : std::optional(s.get<double>()));
    record.error = pair_stats_from_json(f.at("error"));
    r.forms[form] = std::move(record);
  }
  return r;
}

RecordFile::RecordFile(std::filesystem::path file, std::string key, bool resume)
    : file_(std::move(file)) {
  if (file_.empty()) return;
  const std::string head = Json{{"assay-records", key}}.dump();
  std::string kept = head + "\n";
  std::error_code code;
  if (resume && std::filesystem::exists(file_, code)) {
    std::istringstream in(read_file(file_));
    std::string line;
    if (std::getline(in, line) && line == head) {
      while (std::getline(in, line)) {
        const auto j = nlohmann::json::parse(line, nullptr, false);
        if (j.is_discarded() || in.eof()) break;  // torn by a kill
        SampleRecord r = record_from_json(j);
        records_[r.index] = std::move(r);
        kept += line + "\n";
      }
    }
  }
  write_file(file_, kept);
  fd_ = open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0)
    throw Error(
        {.what = std::string("cannot write: ") + std::strerror(errno), .where = file_.string()});
}

RecordFile::~RecordFile() {
  if (fd_ >= 0) close(fd_);
}

void RecordFile::add(const std::vector<SampleRecord>& batch) {
  std::string text;
  for (const SampleRecord& r : batch) {
    if (fd_ >= 0) text += to_json(r).dump() + "\n";
    records_[r.index] = r;
  }
  if (fd_ >= 0 && write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw Error(
        {.what = std::string("cannot write: ") + std::strerror(errno), .where = file_.string()});
  }
}

void RecordFile::remove() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace assay
