#include "validation/session/loss_causes.h"

#include <nlohmann/json.hpp>

#include "quant/causes.h"
#include "runtime/executor.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, double> shares_of(const LayerCauses& c) {
  const auto share = [&](double energy) { return c.total > 0 ? energy / c.total : 0.0; };
  return {{"activation_clipping", share(c.activation_clipping)},
          {"activation_rounding", share(c.activation_rounding)},
          {"bias", share(c.bias)},
          {"inherited", share(c.inherited)},
          {"interaction", share(c.interaction())},
          {"requantization", share(c.requantization)},
          {"weight_clipping", share(c.weight_clipping)},
          {"weight_rounding", share(c.weight_rounding)}};
}

}  // namespace

LossCauses split_losses(
    const Forms& forms, const Dataset& data, std::int64_t count,
    const std::function<void(std::int64_t done, std::int64_t total)>& progress) {
  LossCauses result;
  if (!forms.quantized || !forms.quantized_from) return result;
  CauseSplitter splitter(*forms.quantized_from, forms.quantized->graph);
  const Executor golden(*forms.quantized_from, Precision::f64);
  const Executor actual(forms.quantized->graph, Precision::cr);
  for (std::int64_t i = 0; i < count; ++i) {
    progress(i, count);
    const Feeds feeds = data.load(i).inputs;
    auto want = golden.run(feeds, nullptr, splitter.values());
    auto have = actual.run(feeds, nullptr, splitter.values());
    // A graph's inputs are not among a run's results.
    want.insert(feeds.begin(), feeds.end());
    have.insert(feeds.begin(), feeds.end());
    splitter.add(want, have);
  }
  for (const LayerCauses& c : splitter.layers()) result.shares[c.output] = shares_of(c);
  result.skipped = splitter.skipped();
  return result;
}

void add_causes(Json& quantization, const LossCauses& causes, std::int64_t samples) {
  if (causes.shares.empty() && causes.skipped.empty()) return;
  quantization["causes_measured_on_samples"] = samples;
  for (Json& layer : quantization["layers"]) {
    const auto it = causes.shares.find(layer["output"].get<std::string>());
    if (it != causes.shares.end()) layer["causes"] = it->second;
  }
  if (!causes.skipped.empty()) quantization["causes_not_split"] = causes.skipped;
}

}  // namespace assay
