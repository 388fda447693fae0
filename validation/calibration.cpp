#include "validation/calibration.h"

#include <algorithm>
#include <memory>

#include "quant/quantize.h"
#include "quant/unfuse.h"
#include "validation/programs.h"

namespace assay {
namespace {

/// Shows the wanted values of a compiled run to the observer, whose histograms do not depend on the
/// order of elements.
class TappedKernels {
 public:
  TappedKernels(Graph g, std::set<std::string> taps)
      : programs_(std::move(g)), taps_(std::move(taps)) {}

  void run(const Feeds& feeds, Observer& observer) {
    const auto show = [&](const std::string& name, const Tensor& t) {
      const Graph& g = programs_.graph();
      observer.on_value(g, *g.find_value(name), t);
    };
    for (const auto& [name, t] : feeds) show(name, t);
    programs_.for_shapes_of(feeds).visit(feeds, taps_, show);
  }

 private:
  Programs programs_;
  std::set<std::string> taps_;
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
