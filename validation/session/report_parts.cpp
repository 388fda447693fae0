#include "validation/session/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "runtime/infer.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t total_macs(const Graph& g, const std::map<std::string, Shape>& shapes) {
  std::int64_t macs = 0;
  const StaticTypes types = infer_types(g, shapes);
  for (const NodeId n : g.node_ids()) macs += macs_of(g, n, types);
  return macs;
}

/// Open first axes become 1, so that counts are per sample.
std::map<std::string, Shape> per_sample_shapes(const Graph& g,
                                               const std::map<std::string, Shape>& given) {
  std::map<std::string, Shape> shapes = given;
  for (const ValueId v : g.inputs()) {
    const auto& type = g.value(v).type;
    if (shapes.count(g.name(v)) || !type.dims) continue;
    std::vector<std::int64_t> dims;
    for (const Dim& d : *type.dims) dims.push_back(d.size < 0 && dims.empty() ? 1 : d.size);
    shapes[g.name(v)] = Shape(dims);
  }
  for (auto it = shapes.begin(); it != shapes.end();) {
    const auto& dims = it->second.vec();
    it = std::any_of(dims.begin(), dims.end(), [](std::int64_t d) { return d < 0; })
             ? shapes.erase(it)
             : std::next(it);
  }
  return shapes;
}

/// An Add of two computed values.
bool is_residual_add(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!node.is("Add")) return false;
  return g.producer(node.inputs[0]) != nullptr && g.producer(node.inputs[1]) != nullptr;
}

Json coverage_json(const Forms& forms, const ValidateOptions& options) {
  Json left = Json::array();
  std::map<std::string, std::string> quantizer_reasons;
  if (forms.quantized) {
    for (const NodeVerdict& n : forms.quantized->report.nodes) {
      if (!n.quantized) quantizer_reasons[n.output] = n.reason;
    }
  }
  for (const LoweredNode& n : forms.lowered->nodes) {
    if (n.lowered) continue;
    const auto it = quantizer_reasons.find(n.output);
    left.push_back({{"node", n.node},
                    {"op", n.op_type},
                    {"reason", it != quantizer_reasons.end() ? it->second : n.reason}});
  }
  // MACs are counted on the original: a node counts as INT8 when the lowered graph computes its
  // value in integers.
  const auto shapes = per_sample_shapes(forms.original, options.shapes);
  const StaticTypes types = infer_types(forms.original, shapes);
  std::int64_t macs = 0;
  std::int64_t macs_float = 0;
  const StaticTypes low_types = infer_types(forms.lowered->graph, shapes);
  for (const NodeId n : forms.original.node_ids()) macs += macs_of(forms.original, n, types);
  for (const NodeId n : forms.lowered->graph.node_ids()) {
    const Node& node = forms.lowered->graph.node(n);
    if (node.domain != assay_domain || node.op_type[0] != 'Q')
      macs_float += macs_of(forms.lowered->graph, n, low_types);
  }
  std::int64_t adds = 0;
  for (const NodeId n : forms.original.node_ids()) adds += is_residual_add(forms.original, n);
  std::int64_t adds_int8 = 0;
  for (const NodeId n : forms.lowered->graph.node_ids()) {
    const Node& node = forms.lowered->graph.node(n);
    adds_int8 += node.domain == assay_domain && (node.op_type == "QAdd" || node.has_input(3));
  }
  Json c;
  c["macs"] = macs;
  c["macs_int8"] =
      macs == 0 ? Json()
                : json_number(1 - static_cast<double>(macs_float) / static_cast<double>(macs));
  c["residual_adds"] = adds;
  c["residual_adds_int8"] = adds_int8;
  c["left_in_float"] = std::move(left);
  return c;
}

}  // namespace

Json model_json(const ValidateOptions& options, const Graph& g) {
  Json m{{"file", options.model.filename().string()}, {"sha256", sha256_of_file(options.model)}};
  m["nodes"] = g.node_count();
  m["opset"] = g.opset();
  m["ir_version"] = g.info.ir_version;
  std::int64_t parameters = 0;
  for (const ValueId v : g.value_ids()) parameters += g.value(v).initializer.numel();
  m["parameters"] = parameters;
  m["macs"] = total_macs(g, per_sample_shapes(g, options.shapes));
  return m;
}

Json declined_json(const RewriteLog& log) {
  Json list = Json::array();
  for (const DeclinedRewrite& d : log.declined) {
    list.push_back({{"rule", d.rule},
                    {"node", d.node.name},
                    {"op", d.node.op_type},
                    {"output", d.node.output},
                    {"reason", d.reason},
                    {"edit", d.edit}});
  }
  return list;
}

Json quantization_json(const Forms& forms, const ValidateOptions& options,
                       const std::vector<LayerLoss>& layers) {
  if (!forms.lowered) return {{"layers", Json::array()}, {"note", forms.no_int8}};
  Json q;
  q["source"] = forms.quantized_given ? "file " + options.quantized.filename().string()
                                      : std::string("Assay's quantizer");
  if (!forms.quantized_given) {
    q["scheme"] =
        to_string(forms.quantized->report.config.scheme) + " activations, per-channel s8 weights";
    q["config"] = Json::parse(forms.quantized->report.config.to_json());
    q["calibration"] = {{"algorithm", forms.table->algorithm},
                        {"samples", forms.table->samples},
                        {"digest", forms.table->digest()}};
    q["mid_rounding_dropped"] = forms.quantized->report.dropped_mid_rounding;
  }
  q["profile"] = options.profile;
  q["coverage"] = coverage_json(forms, options);
  q["note"] = fmt::format(
      "Measured on {} samples; SQNR against the correctly rounded original. oneDNN's codes are "
      "compared with the "
      "onednn-v3 arithmetic on the same input codes.",
      options.layer_samples);
  q["layers"] = Json::array();
  for (const LayerLoss& l : layers) q["layers"].push_back(to_json(l));
  return q;
}

Json verdict_json(const Json& report, const ValidateOptions& options) {
  std::int64_t failed = 0;
  std::int64_t undecided = 0;
  std::string first;
  const auto note = [&](const std::string& text) {
    if (first.empty()) first = text;
  };
  for (const Json& f : report["fusions"]) {
    if (f["verdict"] == "E5") {
      ++failed;
      note(fmt::format("fusion {} at '{}' is not equivalent (E5): {}", f["rule"].get<std::string>(),
                       f["output"].get<std::string>(), f.value("reason", "")));
    }
    undecided += f["verdict"] == "U";
  }
  for (const Json& g : report["gates"]) {
    if (g["result"] == "fail") {
      ++failed;
      note("gate " + g["id"].get<std::string>() + " failed" +
           (g.contains("object") ? " at '" + g["object"].get<std::string>() + "'" : ""));
    }
    undecided += g["result"] == "undecided";
  }
  const bool stale =
      report.contains("baseline") && report["baseline"].value("state", "") == "stale";
  if (stale) note("baseline is stale: " + report["baseline"].value("reason", ""));
  const bool slower =
      report.contains("baseline") && report["baseline"].value("state", "") == "slower";
  int code = 0;
  if (undecided > 0 && options.strict) code = 4;
  if (slower) code = 6;
  if (failed > 0) code = 1;
  if (stale) code = 5;
  Json v;
  v["status"] = code == 0 ? "pass" : code == 4 ? "undecided" : "fail";
  v["exit_code"] = code;
  v["summary"] = !first.empty()
                     ? first
                     : fmt::format("{} fusions judged, {} gates checked, {} undecided",
                                   report["fusions"].size(), report["gates"].size(), undecided);
  return v;
}

}  // namespace assay
