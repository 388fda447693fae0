#include "validation/calibration.h"

#include <algorithm>
#include <memory>

#include "kernels/program.h"
#include "quant/quantize.h"
#include "quant/unfuse.h"

namespace assay {
namespace {

/// Programs by input shapes (the last batch may be smaller), showing their taps to the observer,
/// whose histograms do not depend on the order of elements.
class TappedKernels {
 public:
  TappedKernels(Graph g, std::set<std::string> taps)
      : graph_(std::move(g)), taps_(std::move(taps)) {}

  void run(const Feeds& feeds, Observer& observer) {
    for (const auto& [name, t] : feeds) show(name, t, observer);
    program_for(feeds).visit(
        feeds, taps_, [&](const std::string& name, const Tensor& t) { show(name, t, observer); });
  }

 private:
  void show(const std::string& name, const Tensor& t, Observer& observer) const {
    observer.on_value(graph_, *graph_.find_value(name), t);
  }

  kernels::Program& program_for(const Feeds& feeds) {
    std::map<std::string, Shape> shapes;
    std::string key;
    for (const auto& [name, t] : feeds) {
      shapes[name] = t.shape();
      key += name + to_string(t.shape());
    }
    auto it = programs_.find(key);
    if (it == programs_.end())
      it = programs_.emplace(key, kernels::Program::compile(graph_, shapes)).first;
    return it->second;
  }

  Graph graph_;
  std::set<std::string> taps_;
  std::map<std::string, kernels::Program> programs_;
};

RunWithObserver runner_for(const Graph& plain, const CalibrationOptions& options, bool on_kernels) {
  if (!on_kernels) {
    const auto executor = std::make_shared<Executor>(plain, Precision::f32);
    return [executor](const Feeds& feeds, Observer& observer) { executor->run(feeds, &observer); };
  }
  const auto kernels = std::make_shared<TappedKernels>(plain, options.values);
  return [kernels](const Feeds& feeds, Observer& observer) { kernels->run(feeds, observer); };
}

}  // namespace

CalibrationTable calibrate_graph(const Graph& g, const Dataset& data, CalibrationOptions options,
                                 const CalibrationRun& run) {
  const Graph plain = unfuse(g);
  if (options.values.empty()) options.values = values_to_calibrate(plain);
  if (data.size() == 0)
    throw Error({.what = "there are no samples to calibrate on", .where = data.info().source});
  const RunWithObserver runner = runner_for(plain, options, run.on_kernels);
  Calibrator calibrator(std::move(options));
  const std::int64_t total = run.limit > 0 ? std::min(run.limit, data.size()) : data.size();
  const std::int64_t batch = std::max<std::int64_t>(data.info().batch, 1);
  for (std::int64_t i = 0; i < total; i += batch) {
    calibrator.feed(load_batch(data, i, std::min(i + batch, total)).inputs, runner);
    if (run.progress) run.progress(std::min(i + batch, total), total);
  }
  return calibrator.finish();
}

}  // namespace assay
