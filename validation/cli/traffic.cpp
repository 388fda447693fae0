#include "validation/cli/traffic.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fusion/constants.h"
#include "quant/lower.h"
#include "runtime/infer.h"

namespace assay {
namespace {

/// Adds the bytes of `v` to `sum`, or counts it as open.
void add_bytes(const StaticTypes& types, ValueId v, std::int64_t& sum, std::int64_t& open) {
  const TensorType& type = types.type(v);
  if (type.known()) {
    sum += bytes_of(type.dtype, type.shape());
  } else {
    ++open;
  }
}

bool holds_quantizers(const Graph& g) {
  for (const NodeId n : g.node_ids()) {
    if (g.node(n).is("DequantizeLinear")) return true;
  }
  return false;
}

nlohmann::json as_json(const Traffic& t) {
  return {
      {"calls", t.calls}, {"bytes_read", t.read}, {"bytes_written", t.written}, {"open", t.open}};
}

std::string line(const char* what, const Traffic& t) {
  return fmt::format("{}: {} calls, activations {} bytes read, {} bytes written{}\n", what, t.calls,
                     t.read, t.written,
                     t.open == 0 ? "" : fmt::format(", {} of open shape not counted", t.open));
}

}  // namespace

Traffic traffic_of(const Graph& g, const std::map<std::string, Shape>& shapes) {
  const StaticTypes types = infer_types(g, shapes);
  ConstantValues constants;
  const auto changes = [&](ValueId v) {
    if (!v.valid() || constants.get(g, v) != nullptr) return false;
    const Node* producer = g.producer(v);
    // Codes of a weight are constant though they are never evaluated.
    return producer == nullptr || !producer->is("DequantizeLinear") ||
           g.constant(producer->inputs[0]) == nullptr;
  };
  Traffic t;
  for (const NodeId n : g.node_ids()) {
    const Node& node = g.node(n);
    if (node.has_output(0) && !changes(node.outputs[0])) continue;
    ++t.calls;
    for (const ValueId v : node.inputs) {
      if (changes(v)) add_bytes(types, v, t.read, t.open);
    }
    for (const ValueId v : node.outputs) {
      if (v.valid()) add_bytes(types, v, t.written, t.open);
    }
  }
  return t;
}

TrafficReport measure_traffic(const Graph& g, const std::map<std::string, Shape>& shapes) {
  TrafficReport r{.graph = traffic_of(g, shapes)};
  if (holds_quantizers(g)) r.integer = traffic_of(lower(g).graph, shapes);
  return r;
}

std::string to_text(const TrafficReport& r) {
  return line("operator by operator", r.graph) +
         (r.integer ? line("in integer form", *r.integer) : "");
}

void add_to(nlohmann::json& j, const TrafficReport& r) {
  j["traffic"] = as_json(r.graph);
  j["traffic"]["integer"] = r.integer ? as_json(*r.integer) : nlohmann::json(nullptr);
}

}  // namespace assay
