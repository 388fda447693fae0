#include "validation/bench/runner.h"

#include <algorithm>
#include <chrono>

#include "runtime/infer.h"

namespace assay::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class ProgramRunner : public Runner {
 public:
  ProgramRunner(const Graph& g, const Feeds& feeds, const RunnerOptions& o)
      : program_(kernels::Program::compile(g, shapes_of(feeds),
                                           {.threads = o.threads,
                                            .tune = o.tune,
                                            .fuse_chains = o.fuse_chains,
                                            .tune_cache = o.tune_cache})) {
    program_.bind_inputs(feeds);
    graph_ = g;
    feeds_ = feeds;
  }
  std::optional<StepCheck> check() override { return check_steps(graph_, program_, feeds_); }
  void run() override { program_.execute(); }
  std::map<std::string, Tensor> outputs() override { return program_.outputs(); }
  std::int64_t arena_bytes() const override { return program_.arena_bytes(); }

  std::vector<LayerTime> layers(int rounds) override {
    kernels::Program* const alone[] = {&program_};
    return time_layers(alone, rounds)[0];
  }

 private:
  kernels::Program program_;
  Graph graph_;
  Feeds feeds_;
};

/// Seconds per node of one run.
class NodeClock : public Observer {
 public:
  void on_node(const Graph&, NodeId n, double seconds) override {
    seconds_[n].push_back(seconds * 1e3);
  }
  std::map<NodeId, std::vector<double>> seconds_;
};

class ReferenceRunner : public Runner {
 public:
  ReferenceRunner(const Graph& g, Feeds feeds, Precision precision)
      : executor_(g, precision), feeds_(std::move(feeds)) {}
  void run() override { outputs_ = executor_.run(feeds_); }
  std::map<std::string, Tensor> outputs() override {
    std::map<std::string, Tensor> saved = outputs_;
    for (auto& [name, t] : saved) {
      if (t.dtype() == DType::dd) t = convert(t, DType::float64);  // NumPy has no double-double
    }
    return saved;
  }

  std::vector<LayerTime> layers(int rounds) override {
    NodeClock clock;
    for (int i = 0; i < rounds; ++i) executor_.run(feeds_, &clock);
    const Graph& g = executor_.graph();
    const StaticTypes types = infer_types(g, shapes_of(feeds_));
    std::vector<LayerTime> rows;
    for (const NodeId n : g.topological_order()) {
      const Node& node = g.node(n);
      LayerTime row{.step = {.node = node.name}, .ms = median_of(clock.seconds_[n])};
      row.step.op = node.op_type;
      row.step.kernel = "reference";
      row.step.macs = macs_of(g, n, types);
      if (node.has_output(0)) row.step.value = g.name(node.outputs[0]);
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Executor executor_;
  Feeds feeds_;
  std::map<std::string, Tensor> outputs_;
};

/// Writes through a buffer well beyond the second-level caches, so that weights and activations
/// come from memory.
void flush_caches() {
  static std::vector<char> buffer(128 << 20);
  static char value = 0;
  ++value;
  for (std::size_t i = 0; i < buffer.size(); i += 64) buffer[i] = value;
}

}  // namespace

std::unique_ptr<Runner> make_runner(const Graph& g, const Feeds& feeds,
                                    const RunnerOptions& options) {
  check_feeds(g, feeds);
  if (options.backend == "onednn") return std::make_unique<ProgramRunner>(g, feeds, options);
  if (options.backend == "reference")
    return std::make_unique<ReferenceRunner>(g, feeds, options.precision);
  throw Error({.what = "unknown back end",
               .got = "'" + options.backend + "'",
               .expected = "onednn or reference"});
}

std::vector<double> time_runs(Runner& runner, const TimingOptions& o) {
  auto start = Clock::now();
  int warm = 0;
  while (warm < 3 || ms_since(start) < o.warmup_ms) {
    runner.run();
    ++warm;
  }
  std::vector<double> samples;
  start = Clock::now();
  while (static_cast<int>(samples.size()) < o.least || ms_since(start) < o.time_ms) {
    if (o.cold) flush_caches();
    const auto before = Clock::now();
    runner.run();
    samples.push_back(ms_since(before));
  }
  return samples;
}

}  // namespace assay::bench
