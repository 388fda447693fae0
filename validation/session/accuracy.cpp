#include "validation/session/accuracy.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "validation/metric.h"
#include "validation/paired_test.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> forms_of(const std::vector<SampleRecord>& records) {
  std::vector<std::string> forms;
  if (records.empty()) return forms;
  // The original first, the others in the order in which a reader expects them.
  for (const char* form :
       {"original", "fused", "int8", "onednn_unfused", "onednn_fused", "onednn_int8"}) {
    if (records[0].forms.count(form)) forms.emplace_back(form);
  }
  return forms;
}

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  void add(const std::optional<double>& x) {
    if (!x) return;
    sum += *x;
    ++count;
  }
  Json value() const { return count == 0 ? Json() : json_number(sum / static_cast<double>(count)); }
};

/// Samples that exactly one of two forms gets right.
PairedTest paired(const std::vector<SampleRecord>& records, const std::string& form,
                  std::size_t metric) {
  std::int64_t both = 0;
  std::int64_t only_original = 0;
  std::int64_t only_form = 0;
  for (const SampleRecord& r : records) {
    const auto& a = r.forms.at("original").scores.at(metric);
    const auto& b = r.forms.at(form).scores.at(metric);
    if (!a || !b) continue;
    ++both;
    only_original += *a == 1 && *b == 0;
    only_form += *a == 0 && *b == 1;
  }
  return paired_test(both, only_original, only_form);
}

Json metric_json(const std::vector<SampleRecord>& records, const TaskMetric& metric,
                 std::size_t index) {
  Json m{
      {"name", metric.name}, {"unit", metric.unit}, {"higher_is_better", metric.higher_is_better}};
  for (const std::string& form : forms_of(records)) {
    Mean mean;
    for (const SampleRecord& r : records) mean.add(r.forms.at(form).scores.at(index));
    m["values"][form] = mean.value();
    if (form == "original" || mean.count == 0) continue;
    const PairedTest t = paired(records, form, index);
    m["drop"][form] = json_number(t.drop);
    m["ci95_paired"][form] = {json_number(t.low), json_number(t.high)};
    m["mcnemar_p"][form] = json_number(t.p_value);
    m["resolution"][form] = json_number(t.resolution);
  }
  m["per_sample_file"] = "samples.jsonl";
  return m;
}

std::string resolution_note(const Json& metrics, std::size_t samples) {
  if (metrics.empty() || !metrics[0].contains("resolution")) return {};
  double widest = 0;
  for (const auto& [form, r] : metrics[0]["resolution"].items())
    widest = std::max(widest, r.get<double>());
  return fmt::format(
      "Drops are paired per sample (exact McNemar test, 95 % interval). {} samples do not tell a "
      "drop smaller than about "
      "{:.2f} points from no change here.",
      samples, 100 * widest);
}

}  // namespace

Json accuracy_json(const std::vector<SampleRecord>& records, const Task& task,
                   const std::string& output) {
  Json a{{"task", task.kind}, {"output", output}, {"samples", records.size()}};
  a["metrics"] = Json::array();
  for (std::size_t i = 0; i < task.metrics.size(); ++i)
    a["metrics"].push_back(metric_json(records, task.metrics[i], i));
  if (!task.metrics.empty() && task.metrics[0].name == "top1")
    a["top1"] = a["metrics"][0]["values"];
  const std::string note = resolution_note(a["metrics"], records.size());
  if (!note.empty()) a["note"] = note;
  for (const std::string& form : forms_of(records)) {
    if (form == "original") continue;
    std::int64_t same = 0;
    PairStats error;
    for (const SampleRecord& r : records) {
      same += r.forms.at(form).answer == r.forms.at("original").answer;
      error.merge(r.forms.at(form).error);
    }
    a["agreement"][form] =
        json_number(static_cast<double>(same) / static_cast<double>(records.size()));
    Json metrics = metrics_json(error);
    a["output_error"][form] = std::move(metrics);
  }
  return a;
}

Json histograms_json(const std::vector<SampleRecord>& records) {
  Json all = Json::object();
  Json bins = Json::array({"0", fmt::format("< 2^{}", PairStats::histogram_low)});
  for (int e = PairStats::histogram_low; e < PairStats::histogram_high; ++e)
    bins.push_back(fmt::format("2^{}", e));
  for (const std::string& form : forms_of(records)) {
    if (form == "original") continue;
    PairStats error;
    for (const SampleRecord& r : records) error.merge(r.forms.at(form).error);
    Json counts = Json::array();
    for (const std::int64_t n : error.histogram) counts.push_back(n);
    all[form] = {{"bins", bins}, {"counts", std::move(counts)}};
  }
  // Bins that are empty in every form are cut off on both sides of the range.
  std::size_t low = bins.size();
  std::size_t high = 0;
  for (const auto& [form, h] : all.items()) {
    for (std::size_t i = 1; i < h["counts"].size(); ++i) {
      if (h["counts"][i] == 0) continue;
      low = std::min(low, i);
      high = std::max(high, i);
    }
  }
  for (auto& [form, h] : all.items()) {
    Json kept_bins = Json::array({"0"});
    Json kept = Json::array({h["counts"][0]});
    for (std::size_t i = low; i <= high && i < bins.size(); ++i) {
      kept_bins.push_back(bins[i]);
      kept.push_back(h["counts"][i]);
    }
    h = {{"bins", std::move(kept_bins)}, {"counts", std::move(kept)}};
  }
  return all;
}

}  // namespace assay
