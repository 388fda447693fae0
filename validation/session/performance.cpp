#include "validation/session/performance.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "validation/bench/samples.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
using bench::LayerTime;

struct StepTime {
  double ms = 0;
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};

/// Median time by output value.
std::map<std::string, StepTime> by_value(const std::vector<LayerTime>& layers) {
  std::map<std::string, StepTime> found;
  for (const LayerTime& l : layers) {
    StepTime& t = found[l.step.value];
    t.ms += l.ms;
    t.bytes += l.step.bytes;
    t.calls += l.step.kernel != "alias";
  }
  return found;
}

}  // namespace

Json Stopwatch::runs_json() const {
  Json runs = Json::array();
  for (const auto& [key, all] : times_) {
    std::vector<double> times(all.size() > 1 ? all.begin() + 1 : all.begin(), all.end());
    std::sort(times.begin(), times.end());
    runs.push_back({{"form", key.first},
                    {"backend", key.second},
                    {"median_ms", 1e3 * bench::quantile(times, 0.5)},
                    {"p90_ms", 1e3 * bench::quantile(times, 0.9)},
                    {"samples", times.size()}});
  }
  return runs;
}

Json fusion_times_json(const std::vector<LayerTime>& unfused, const std::vector<LayerTime>& fused,
                       const RewriteLog& log) {
  const auto old_steps = by_value(unfused);
  const auto new_steps = by_value(fused);
  Json list = Json::array();
  for (const FiredRewrite& f : log.fired) {
    if (!new_steps.count(f.output)) continue;  // rewritten again by a later rule
    StepTime was;
    for (const NodeNote& n : f.removed) {
      const auto it = old_steps.find(n.output);
      if (it == old_steps.end()) continue;
      was.ms += it->second.ms;
      was.bytes += it->second.bytes;
      was.calls += it->second.calls;
    }
    if (was.calls == 0) continue;
    const StepTime& now = new_steps.at(f.output);
    list.push_back({{"rule", f.rule},
                    {"output", f.output},
                    {"calls_saved", was.calls - now.calls},
                    {"bytes_saved", was.bytes - now.bytes},
                    {"before_ms", was.ms},
                    {"after_ms", now.ms}});
  }
  return list;
}

Json layer_times_json(const std::vector<LayerTime>& layers, const std::string& form,
                      const bench::Roofline& roofline) {
  Json list = Json::array();
  for (const LayerTime& l : layers) {
    const kernels::StepInfo& s = l.step;
    Json row{{"form", form},       {"node", s.node}, {"value", s.value}, {"op", s.op},
             {"kernel", s.kernel}, {"ms", l.ms},     {"macs", s.macs},   {"bytes", s.bytes}};
    if (s.macs > 0 && l.ms > 0) {
      row["gflops"] = bench::rate(l);
      row["roofline_share"] = bench::share_of_roof(l, roofline);
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace assay
