#include "validation/session/performance.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

struct StepTime {
  double seconds = 0;
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};

/// Median time by output value.
std::map<std::string, StepTime> step_times(const kernels::Program& p,
                                           const std::vector<std::vector<double>>& rounds) {
  std::map<std::string, StepTime> found;
  for (std::size_t i = 0; i < p.steps().size(); ++i) {
    std::vector<double> times;
    for (const auto& round : rounds) times.push_back(round[i]);
    StepTime& t = found[p.steps()[i].value];
    t.seconds += quantile(times, 0.5);
    t.bytes += p.steps()[i].bytes;
    t.calls += p.steps()[i].kernel != "alias";
  }
  return found;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

Json Stopwatch::runs_json() const {
  Json runs = Json::array();
  for (const auto& [key, all] : times_) {
    const std::vector<double> times(all.size() > 1 ? all.begin() + 1 : all.begin(), all.end());
    runs.push_back({{"form", key.first},
                    {"backend", key.second},
                    {"median_ms", 1e3 * quantile(times, 0.5)},
                    {"p90_ms", 1e3 * quantile(times, 0.9)},
                    {"samples", times.size()}});
  }
  return runs;
}

Json fusion_times_json(kernels::Program& unfused, kernels::Program& fused, const RewriteLog& log,
                       const Feeds& feeds, int rounds) {
  std::vector<std::vector<double>> before;
  std::vector<std::vector<double>> after;
  unfused.bind_inputs(feeds);
  fused.bind_inputs(feeds);
  for (int i = 0; i < rounds + 1; ++i) {  // in turn, so that a drifting clock touches both alike
    std::vector<double> a;
    std::vector<double> b;
    unfused.execute_timed(a);
    fused.execute_timed(b);
    if (i == 0) continue;
    before.push_back(std::move(a));
    after.push_back(std::move(b));
  }
  const auto old_steps = step_times(unfused, before);
  const auto new_steps = step_times(fused, after);
  Json list = Json::array();
  for (const FiredRewrite& f : log.fired) {
    if (!new_steps.count(f.output)) continue;  // rewritten again by a later rule
    StepTime was;
    for (const NodeNote& n : f.removed) {
      const auto it = old_steps.find(n.output);
      if (it == old_steps.end()) continue;
      was.seconds += it->second.seconds;
      was.bytes += it->second.bytes;
      was.calls += it->second.calls;
    }
    if (was.calls == 0) continue;
    const StepTime& now = new_steps.at(f.output);
    list.push_back({{"rule", f.rule},
                    {"output", f.output},
                    {"calls_saved", was.calls - now.calls},
                    {"bytes_saved", was.bytes - now.bytes},
                    {"before_ms", 1e3 * was.seconds},
                    {"after_ms", 1e3 * now.seconds}});
  }
  return list;
}

Json layer_times_json(kernels::Program& program, const std::string& form, const Feeds& feeds,
                      int rounds, const bench::Roofline& roofline) {
  std::vector<std::vector<double>> times(program.steps().size());
  std::vector<double> seconds;
  program.bind_inputs(feeds);
  for (int i = 0; i <= rounds; ++i) {
    program.execute_timed(seconds);
    for (std::size_t k = 0; i > 0 && k < seconds.size(); ++k) times[k].push_back(seconds[k]);
  }
  Json list = Json::array();
  for (std::size_t k = 0; k < times.size(); ++k) {
    const kernels::StepInfo& s = program.steps()[k];
    const double median = quantile(times[k], 0.5);
    Json row{{"form", form},       {"node", s.node},     {"value", s.value}, {"op", s.op},
             {"kernel", s.kernel}, {"ms", 1e3 * median}, {"macs", s.macs},   {"bytes", s.bytes}};
    if (s.macs > 0 && median > 0) {
      const double rate = 2e-9 * static_cast<double>(s.macs) / median;
      row["gflops"] = rate;
      row["roofline_share"] = rate / roofline.limit(s.arithmetic.has_value(), s.macs, s.bytes);
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace assay
