// Times of a run: per form and back end, and what each fusion saves on oneDNN.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fusion/rewrite_log.h"
#include "validation/bench/layers.h"

namespace assay {

/// Seconds of batches by (form, back end), in running order.
class Stopwatch {
 public:
  void add(const std::string& form, const std::string& backend, double seconds) {
    times_[{form, backend}].push_back(seconds);
  }
  /// performance.runs[]: medians and 90th percentiles in milliseconds; the first batch of each is
  /// warm-up where there are more.
  nlohmann::ordered_json runs_json() const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<double>> times_;
};

/// performance.fusions[]: {rule, output, calls_saved, bytes_saved, before_ms, after_ms}, from the
/// step times of the unfused and the fused program.
nlohmann::ordered_json fusion_times_json(const std::vector<bench::LayerTime>& unfused,
                                         const std::vector<bench::LayerTime>& fused,
                                         const RewriteLog& log);

/// performance.layers[] of one compiled form: {form, node, value, op, kernel, ms, macs, bytes,
/// gflops, roofline_share}. The last two only where something is multiplied.
nlohmann::ordered_json layer_times_json(const std::vector<bench::LayerTime>& layers,
                                        const std::string& form, const bench::Roofline& roofline);

}  // namespace assay
