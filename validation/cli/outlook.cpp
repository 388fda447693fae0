#include "validation/cli/outlook.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace assay {
namespace {

/// Runs `f`; an error becomes text, so that the rest of the model is still shown.
template <class F>
std::string failure_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

CalibrationTable assumed_ranges(const Graph& g) {
  CalibrationTable table;
  const CalibratedRange unit{.chosen = {-1, 1}, .seen = {-1, 1}, .count = 1};
  for (const std::string& name : values_to_calibrate(g)) table.ranges[name] = unit;
  return table;
}

std::string with_edit(const std::string& reason, const std::string& edit) {
  return edit.empty() ? reason : reason + "; " + edit;
}

std::string fusion_text(const Outlook& o) {
  if (!o.fusion_failed.empty()) return "fusion: the rules cannot run, " + o.fusion_failed + "\n";
  std::string text = fmt::format("fusion (mode {}): {} nodes become {}\n", o.fusion.mode,
                                 o.fusion.nodes_before, o.fusion.nodes_after);
  std::map<std::string, std::int64_t> fired;
  for (const FiredRewrite& r : o.fusion.fired) ++fired[r.rule];
  for (const auto& [rule, count] : fired) text += fmt::format("  {:<30}{:>8} times\n", rule, count);
  for (const DeclinedRewrite& d : o.fusion.declined) {
    text += fmt::format("  not {} at '{}' ({}): {}\n", d.rule, d.node.name, d.node.op_type,
                        with_edit(d.reason, d.edit));
  }
  for (const std::string& note : o.fusion.notes) text += "  note: " + note + "\n";
  return text;
}

std::string quantization_text(const Outlook& o) {
  if (!o.quantization_failed.empty()) {
    return "quantization: the quantizer cannot run, " + o.quantization_failed + "\n";
  }
  const QuantReport& q = *o.quantization;
  std::int64_t quantized = 0;
  for (const NodeVerdict& n : q.nodes) quantized += n.quantized;
  std::string text =
      fmt::format("quantization (scheme u8): {} of {} nodes", quantized, q.nodes.size());
  text += q.macs > 0 ? fmt::format(", {:.1f} % of the MACs\n", 100 * q.int8_share()) : "\n";
  for (const NodeVerdict& n : q.nodes) {
    if (!n.quantized)
      text += fmt::format("  not '{}' ({}): {}\n", n.node, n.op_type, with_edit(n.reason, n.edit));
  }
  return text;
}

}  // namespace

Outlook look_ahead(const Graph& g, const std::string& mode,
                   const std::map<std::string, Shape>& shapes) {
  rules_of(mode);  // an unknown mode is wrong usage, not a trait of the model
  Outlook o;
  Graph fused = g;
  o.fusion_failed = failure_of([&] {
    FusionResult result = fuse(g, {.mode = mode});
    o.fusion = std::move(result.log);
    fused = std::move(result.graph);
  });
  o.quantization_failed = failure_of(
      [&] { o.quantization = quantize(fused, assumed_ranges(fused), {}, shapes).report; });
  return o;
}

std::string to_text(const Outlook& o) { return fusion_text(o) + quantization_text(o); }

void add_to(nlohmann::json& j, const Outlook& o) {
  j["fusion"] = o.fusion_failed.empty() ? nlohmann::json::parse(to_json(o.fusion))
                                        : nlohmann::json{{"failed", o.fusion_failed}};
  if (!o.quantization_failed.empty()) {
    j["quantization"] = {{"failed", o.quantization_failed}};
    return;
  }
  auto nodes = nlohmann::json::array();
  for (const NodeVerdict& n : o.quantization->nodes) {
    nlohmann::json node = {{"node", n.node},
                           {"op", n.op_type},
                           {"output", n.output},
                           {"quantized", n.quantized},
                           {"macs", n.macs}};
    if (!n.quantized) {
      node["reason"] = n.reason;
      node["edit"] = n.edit;
    }
    nodes.push_back(std::move(node));
  }
  j["quantization"] = {{"macs", o.quantization->macs},
                       {"macs_int8", o.quantization->macs_int8},
                       {"nodes", std::move(nodes)}};
}

}  // namespace assay
