#include "validation/session/run_samples.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
using Outputs = std::map<std::string, Tensor>;

void check_finite(const Sample& s) {
  for (const auto& [name, t] : s.inputs) {
    if (!is_float(t.dtype())) continue;
    const auto values = to_doubles(t);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      throw Error({.what = "the data hold NaN or an infinity",
                   .where = "sample '" + s.id + "', input '" + name + "'",
                   .got = (std::isnan(values[i]) ? "NaN" : "infinity") +
                          std::string(" at element ") + std::to_string(i)});
    }
  }
}

/// Rows of each output that belong to sample `i` of `n`.
Outputs slice(const Outputs& all, std::size_t i, std::size_t n) {
  if (n == 1) return all;
  Outputs part;
  for (const auto& [name, t] : all) {
    if (t.shape().rank() == 0 || t.shape()[0] % static_cast<std::int64_t>(n) != 0) {
      throw Error({.what = "output cannot be split into samples",
                   .where = "output '" + name + "'",
                   .got = describe(t),
                   .expected = "a first axis that is the batch",
                   .advice = "set \"batch\": 1"});
    }
    const std::int64_t rows = t.shape()[0] / static_cast<std::int64_t>(n);
    part[name] =
        t.rows(static_cast<std::int64_t>(i) * rows, static_cast<std::int64_t>(i + 1) * rows);
  }
  return part;
}

PairStats output_error(const Outputs& original, const Outputs& other) {
  PairStats all;
  for (const auto& [name, t] : original) {
    if (!is_float(t.dtype())) continue;
    const auto it = other.find(name);
    if (it == other.end())
      throw Error({.what = "form lacks an output of the original", .got = "'" + name + "'"});
    all.merge(pair_stats(t, it->second));
  }
  return all;
}

std::vector<SampleRecord> record_batch(const Batch& batch, std::int64_t first,
                                       const std::map<std::string, Outputs>& by_form,
                                       const SamplePlan& plan) {
  std::vector<SampleRecord> records;
  const std::size_t n = batch.samples.size();
  for (std::size_t i = 0; i < n; ++i) {
    SampleRecord r{.index = first + static_cast<std::int64_t>(i), .id = batch.samples[i].id};
    const Outputs original = slice(by_form.at("original"), i, n);
    for (const auto& [form, outputs] : by_form) {
      const Outputs own = slice(outputs, i, n);
      const SampleView view{own, plan.output, batch.samples[i].label};
      r.forms[form] = {.answer = plan.task->predict(view),
                       .scores = plan.task->score(view),
                       .error = output_error(original, own)};
    }
    records.push_back(std::move(r));
  }
  return records;
}

}  // namespace

void run_samples(const Dataset& data, const std::vector<Runner>& runners, const SamplePlan& plan,
                 RecordFile& file, Stopwatch& watch,
                 const std::function<void(std::int64_t done, std::int64_t total)>& progress) {
  const std::int64_t batches = (plan.count + plan.batch - 1) / plan.batch;
  for (std::int64_t b = plan.shard - 1; b < batches; b += plan.shards) {
    const std::int64_t begin = b * plan.batch;
    const std::int64_t end = std::min(begin + plan.batch, plan.count);
    progress(begin, plan.count);
    if (file.records().count(begin) && file.records().count(end - 1)) continue;
    const Batch batch = load_batch(data, begin, end);
    if (!plan.allow_nonfinite) {
      for (const Sample& s : batch.samples) check_finite(s);
    }
    std::map<std::string, Outputs> by_form;
    for (const Runner& r : runners) {
      const auto start = Clock::now();
      by_form[r.form] = r.run(batch.inputs, {});
      if (end - begin == plan.batch)
        watch.add(r.form, r.backend, std::chrono::duration<double>(Clock::now() - start).count());
    }
    file.add(record_batch(batch, begin, by_form, plan));
  }
  progress(plan.count, plan.count);
}

}  // namespace assay
