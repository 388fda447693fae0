#include "quant/quantize.h"

#include <nlohmann/json.hpp>

#include "quant/opset.h"
#include "quant/plan.h"
#include "quant/unfuse.h"
#include "quant/weights.h"

namespace assay {
namespace {

/// Writes the plan into the graph.
class Writer {
 public:
  Writer(Graph& g, QuantPlan& plan, const QuantConfig& config, QuantReport& report)
      : g_(g), plan_(plan), config_(config), report_(report) {}

  void write() {
    const auto order = g_.topological_order();
    for (const NodeId n : order) {
      if (plan_.quantized(n) && role_of(g_.node(n)) == QuantRole::linear) write_weights(n);
    }
    const std::map<ValueId, QuantParams> values = plan_.values;
    for (const auto& [v, params] : values) write_quantizer(v, params);
    g_.remove_dead();
    g_.sort_nodes();
    g_.verify();
    for (const NodeId n : order) report_.nodes.push_back(plan_.nodes.at(n));
    for (const ValueId v : plan_.dropped_mid) report_.dropped_mid_rounding.push_back(g_.name(v));
  }

 private:
  ValueId constant(const std::string& stem, Tensor t) {
    return g_.add_initializer(g_.fresh_name(stem), std::move(t));
  }

  ValueId dequantize(const std::string& stem, std::vector<ValueId> inputs, Attributes attributes,
                     ValueType type) {
    const ValueId out = g_.add_value(g_.fresh_name(stem + "_dequantized"), std::move(type));
    Node node{.name = g_.fresh_node_name(stem + "_DequantizeLinear"),
              .op_type = "DequantizeLinear",
              .inputs = std::move(inputs),
              .outputs = {out},
              .attributes = std::move(attributes)};
    g_.add_node(std::move(node));
    return out;
  }

  static Tensor zeros_like_scale(DType t, const Tensor& scale) {
    return Tensor::zeros(t, scale.shape());
  }

  void write_bias(NodeId n, const QuantizedWeights& w) {
    const Node& node = g_.node(n);
    if (!w.bias_codes.defined()) return;
    const std::string stem = g_.name(node.inputs[2]);
    const ValueId codes = constant(stem + "_quantized", w.bias_codes);
    const ValueId scales = constant(stem + "_scale", w.bias_scales);
    g_.set_input(n, 2,
                 dequantize(stem, {codes, scales}, {{"axis", std::int64_t{0}}},
                            type_of(DType::float32, w.bias_codes.shape())));
  }

  void write_weights(NodeId n) {
    const Node node = g_.node(n);
    const LayerConfig layer = layer_config(node);
    WeightRequest request{.weight = *g_.constant(node.inputs[1]),
                          .axis = weight_axis(g_, node),
                          .per_channel = layer.per_channel.value_or(config_.per_channel &&
                                                                    plan_.per_tensor.count(n) == 0),
                          .x_scale = plan_.values.at(node.inputs[0]).scale};
    // A grouped ConvTranspose holds one scale per channel within the group; its bias runs over all
    // of them.
    const bool per_group = node.is("ConvTranspose") && node.attributes.int_or("group", 1) != 1;
    if (node.has_input(2) && config_.integer_bias && !per_group) {
      request.bias = g_.constant(node.inputs[2])->reshaped({g_.constant(node.inputs[2])->numel()});
    }
    QuantizedWeights w;
    try {
      w = quantize_weights(request);
    } catch (const Error& e) {
      throw e.at(place_of(g_, n));
    }
    const std::string stem = g_.name(node.inputs[1]);
    const ValueId codes = constant(stem + "_quantized", w.codes);
    const ValueId scales = constant(stem + "_scale", w.scales);
    const ValueId zeros = constant(stem + "_zero_point", zeros_like_scale(DType::int8, w.scales));
    Attributes attributes;
    if (w.scales.shape().rank() == 1) attributes.set("axis", request.axis);
    g_.set_input(n, 1,
                 dequantize(stem, {codes, scales, zeros}, attributes,
                            type_of(DType::float32, w.codes.shape())));
    write_bias(n, w);
    plan_.nodes[n].dead_channels = w.dead;
    plan_.nodes[n].raised_channels = w.raised;
  }

  LayerConfig layer_config(const Node& node) const {
    for (const auto& [name, layer] : config_.layers) {
      if (fits_wildcard(name, node.name) || fits_wildcard(name, g_.name(node.outputs[0])))
        return layer;
    }
    return {};
  }

  static Tensor zero_point(const QuantParams& p) {
    if (p.dtype == DType::int8) return Tensor::scalar(static_cast<std::int8_t>(p.zero_point));
    return Tensor::scalar(static_cast<std::uint8_t>(p.zero_point));
  }

  void write_quantizer(ValueId v, const QuantParams& p) {
    const std::string stem = g_.name(v);
    const std::vector<NodeId> readers = g_.value(v).readers;
    const ValueId scale = constant(stem + "_scale", Tensor::scalar(p.scale));
    const ValueId zero = constant(stem + "_zero_point", zero_point(p));
    ValueType code_type = g_.value(v).type;
    code_type.dtype = p.dtype;
    const ValueId codes = g_.add_value(g_.fresh_name(stem + "_quantized"), code_type);
    g_.add_node({.name = g_.fresh_node_name(stem + "_QuantizeLinear"),
                 .op_type = "QuantizeLinear",
                 .inputs = {v, scale, zero},
                 .outputs = {codes}});
    const ValueId back = dequantize(stem, {codes, scale, zero}, {}, g_.value(v).type);
    for (const NodeId n : readers) {
      const auto verdict = plan_.nodes.find(n);
      if (verdict != plan_.nodes.end() && verdict->second.by_target) continue;
      const auto inputs = g_.node(n).inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] == v) g_.set_input(n, i, back);
      }
    }
    report_.values.push_back({stem, g_.name(codes), g_.name(back), p, plan_.ranges.at(v)});
  }

  Graph& g_;
  QuantPlan& plan_;
  const QuantConfig& config_;
  QuantReport& report_;
};

void count_macs(const Graph& g, const std::map<std::string, Shape>& input_shapes, QuantPlan& plan,
                QuantReport& report) {
  const StaticTypes types = infer_types(g, input_shapes);
  for (auto& [n, verdict] : plan.nodes) {
    verdict.macs = macs_of(g, n, types);
    report.macs += verdict.macs;
    if (verdict.quantized) report.macs_int8 += verdict.macs;
  }
}

}  // namespace

double QuantReport::int8_share() const {
  return macs == 0 ? 0 : static_cast<double>(macs_int8) / static_cast<double>(macs);
}

QuantizeResult quantize(const Graph& g, const CalibrationTable& table, const QuantConfig& config,
                        const std::map<std::string, Shape>& input_shapes) {
  QuantizeResult result{.graph = raise_opset(unfuse(g), 13),
                        .report = {.config = config, .calibration_digest = table.digest()}};
  QuantPlan plan = make_plan(result.graph, &table, config);
  count_macs(result.graph, input_shapes, plan, result.report);
  Writer(result.graph, plan, config, result.report).write();
  return result;
}

std::set<std::string> values_to_calibrate(const Graph& g) {
  const Graph plain = unfuse(g);
  std::set<std::string> names;
  for (const auto& [v, params] : make_plan(plain, nullptr, {}).values) names.insert(plain.name(v));
  return names;
}

std::string to_json(const QuantReport& r) {
  using Json = nlohmann::ordered_json;
  Json j = {{"schema", "assay-quantization/1"},
            {"config", Json::parse(r.config.to_json())},
            {"calibration", r.calibration_digest},
            {"macs", r.macs},
            {"macs_int8", r.macs_int8},
            {"int8_share", r.int8_share()},
            {"dropped_mid_rounding", r.dropped_mid_rounding},
            {"nodes", Json::array()},
            {"values", Json::array()}};
  for (const NodeVerdict& n : r.nodes) {
    Json node = {{"node", n.node},
                 {"op", n.op_type},
                 {"output", n.output},
                 {"quantized", n.quantized},
                 {"macs", n.macs}};
    if (!n.quantized) node["reason"] = n.reason;
    if (!n.edit.empty()) node["edit"] = n.edit;
    if (n.by_target) node["by_target"] = true;
    if (!n.dead_channels.empty()) node["dead_channels"] = n.dead_channels;
    if (!n.raised_channels.empty()) node["raised_channels"] = n.raised_channels;
    j["nodes"].push_back(node);
  }
  for (const ValueQuantizer& v : r.values) {
    j["values"].push_back({{"value", v.value},
                           {"codes", v.codes},
                           {"dtype", to_string(v.params.dtype)},
                           {"scale", v.params.scale},
                           {"zero_point", v.params.zero_point},
                           {"low", v.range.low},
                           {"high", v.range.high}});
  }
  return j.dump(2) + "\n";
}

}  // namespace assay
