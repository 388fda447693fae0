#include "quant/target_gate.h"

#include <fmt/format.h>

namespace assay {
namespace {

bool names(const std::string& pattern, const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  return fits_wildcard(pattern, node.name) ||
         (node.has_output(0) && fits_wildcard(pattern, g.name(node.outputs[0])));
}

std::map<std::string, FactValue> settings_of(const Graph& g, const QuantConfig& config, NodeId n) {
  std::map<std::string, FactValue> settings = {
      {"shift_n", std::int64_t{0}},
      {"weight_asymmetric", false},
      {"activation_per_channel", false},
      {"activation_asymmetric", config.scheme == ActivationScheme::u8},
      {"equal_scales", config.align_residual}};
  if (g.node(n).is("Add")) settings["quantized_inputs"] = std::int64_t{2};
  // One scale per channel is only a default: where the table forbids it, the weight gets one scale.
  // Asked for at this very layer it is a wish that cannot be met.
  if (!config.per_channel) settings["channel_wise"] = false;
  for (const auto& [name, layer] : config.layers) {
    if (layer.per_channel && names(name, g, n)) settings["channel_wise"] = *layer.per_channel;
  }
  return settings;
}

void require_no_error(const Graph& g, NodeId n, const std::string& target, const LayerVerdict& v) {
  for (const FailedConstraint& f : v.failed) {
    if (!f.error) continue;
    throw Error({.what = fmt::format("target {} fails on this layer: {}", target, f.meaning),
                 .where = describe(g.node(n)),
                 .got = f.value,
                 .expected = f.expected,
                 .advice = f.edit});
  }
}

}  // namespace

TargetGate::TargetGate(const Graph& g, const QuantConfig& config) : target_(config.target) {
  if (target_.empty()) {
    if (config.product.empty()) return;
    throw Error({.what = "a product without a target",
                 .got = "'" + config.product + "'",
                 .advice = "name its target too"});
  }
  verdicts_ = judge_nodes(g, {.target = config.target, .product = config.product},
                          [&](NodeId n) { return settings_of(g, config, n); });
  for (const auto& [n, v] : verdicts_) require_no_error(g, n, target_, v);
}

std::optional<Decline> TargetGate::refusal(NodeId n) const {
  const auto it = verdicts_.find(n);
  if (it == verdicts_.end()) return std::nullopt;
  const LayerVerdict& v = it->second;
  if (v.answer != LayerAnswer::no && v.answer != LayerAnswer::not_listed) return std::nullopt;
  return Decline{fmt::format("target {} does not quantize it: {}", target_, v.reason()), v.edit()};
}

bool TargetGate::per_tensor(NodeId n) const {
  const auto it = verdicts_.find(n);
  if (it == verdicts_.end()) return false;
  const auto setting = it->second.settings.find("channel_wise");
  return setting != it->second.settings.end() && setting->second == FactValue(false);
}

}  // namespace assay
