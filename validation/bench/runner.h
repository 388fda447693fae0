// Something that can be timed: a compiled program or the reference executor on one set of feeds.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/program.h"
#include "runtime/executor.h"
#include "validation/bench/check.h"
#include "validation/bench/layers.h"
#include "validation/bench/samples.h"

namespace assay::bench {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run() = 0;
  virtual std::map<std::string, Tensor> outputs() = 0;
  /// Runs `rounds` times with a clock around every layer.
  virtual std::vector<LayerTime> layers(int rounds) = 0;
  virtual std::int64_t arena_bytes() const { return 0; }
  /// Judges every step on one run (check.h); nothing for the reference itself.
  virtual std::optional<StepCheck> check() { return std::nullopt; }
};

struct RunnerOptions {
  std::string backend = "onednn";        ///< or "reference"
  Precision precision = Precision::f32;  ///< of the reference
  int threads = 0;
  bool tune = true;
  bool fuse_chains = true;
  std::string tune_cache = {};
};
std::unique_ptr<Runner> make_runner(const Graph& g, const Feeds& feeds,
                                    const RunnerOptions& options);

struct TimingOptions {
  double warmup_ms = 300;
  double time_ms = 2000;
  int least = 20;     ///< samples, whatever the time
  bool cold = false;  ///< streams a buffer through the caches before every run
};
/// Milliseconds of each run after the warm-up.
std::vector<double> time_runs(Runner& runner, const TimingOptions& options);

}  // namespace assay::bench
