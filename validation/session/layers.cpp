#include "validation/session/layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/executor.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// Takes every named value of a run.
std::map<std::string, Tensor> run_with(const Executor& e, const Feeds& feeds,
                                       const std::set<std::string>& names) {
  return e.run(feeds, nullptr, names);
}

Tensor dequantized(const Tensor& codes, const QuantParams& p) {
  Tensor out(DType::float64, codes.shape());
  const auto values = to_ints(codes);
  auto data = out.mutable_data<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    data[i] = static_cast<double>(values[i] - p.zero_point) * static_cast<double>(p.scale);
  return out;
}

/// round_half_even(x / s) + z, saturated: QuantizeLinear on an exact quotient of doubles is exact
/// enough here only because x is float32: the quotient of two float32 numbers is never closer to a
/// tie than double resolves, or is a tie exactly.
Tensor quantized(const Tensor& x, const QuantParams& p) {
  Tensor out(p.dtype, x.shape());
  const auto values = to_doubles(x);
  const auto range = p.range();
  visit_dtype(p.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      auto data = out.mutable_data<T>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double q = std::nearbyint(values[i] / static_cast<double>(p.scale)) +
                         static_cast<double>(p.zero_point);
        data[i] = static_cast<T>(std::isnan(q) ? static_cast<double>(p.zero_point)
                                               : std::clamp(q, static_cast<double>(range.lo),
                                                            static_cast<double>(range.hi)));
      }
    }
  });
  return out;
}

/// Codes at an end of the range although the golden value lies more than half a step beyond it.
std::int64_t count_clipped(const Tensor& codes, const Tensor& golden, const QuantParams& p) {
  const auto range = p.range();
  const double scale = p.scale;
  const double low = (static_cast<double>(range.lo - p.zero_point) - 0.5) * scale;
  const double high = (static_cast<double>(range.hi - p.zero_point) + 0.5) * scale;
  std::int64_t n = 0;
  const auto q = to_ints(codes);
  const auto x = to_doubles(golden);
  for (std::size_t i = 0; i < q.size(); ++i)
    n += (q[i] == range.lo && x[i] < low) || (q[i] == range.hi && x[i] > high);
  return n;
}

std::int64_t count_mismatches(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return a.numel();
  const std::int64_t size = size_of(a.dtype());
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i)
    n += std::memcmp(a.raw().data() + i * size, b.raw().data() + i * size,
                     static_cast<std::size_t>(size)) != 0;
  return n;
}

}  // namespace

struct LayerStudy::Impl {
  struct Layer {
    NodeId id;
    std::unique_ptr<Executor> alone;       // the node under the graph's profile
    std::unique_ptr<Executor> as_kernel;   // the node under oneDNN's arithmetic, when a kernel ran
    std::vector<std::string> data_inputs;  // non-constant inputs, by name
    std::string result;
  };

  const Graph* original = nullptr;
  Executor golden;
  Executor whole;
  kernels::Program* program = nullptr;
  std::map<std::string, CodeValue> by_codes;
  std::vector<Layer> nodes;
  std::vector<LayerLoss> losses;
  std::set<std::string> golden_names, code_names;

  Impl(const Graph& o, const LowerResult& lowered, kernels::Program* p)
      : original(&o), golden(o, Precision::cr), whole(lowered.graph, Precision::cr), program(p) {
    for (const CodeValue& v : lowered.codes) {
      if (o.find_value(v.value)) golden_names.insert(v.value);
      by_codes[v.codes] = v;
    }
    for (const NodeId n : lowered.graph.topological_order()) add_layer(lowered.graph, n);
  }

  void add_layer(const Graph& g, NodeId n) {
    const Node& node = g.node(n);
    if (node.domain != assay_domain || node.op_type.empty() || node.op_type[0] != 'Q') return;
    Layer layer{.id = n,
                .alone = nullptr,
                .as_kernel = nullptr,
                .data_inputs = {},
                .result = g.name(node.outputs[0])};
    std::vector<ValueId> inputs;
    for (const ValueId v : node.inputs) {
      if (!v.valid() || g.constant(v) != nullptr) continue;
      inputs.push_back(v);
      layer.data_inputs.push_back(g.name(v));
      code_names.insert(g.name(v));
    }
    code_names.insert(layer.result);
    const Graph part = extract(g, inputs, {node.outputs[0]});
    layer.alone = std::make_unique<Executor>(part, Precision::cr);
    LayerLoss loss{.node = node.name, .op = node.op_type, .output = layer.result};
    const auto it = by_codes.find(layer.result);
    if (it != by_codes.end()) {
      loss.output = it->second.value;
      loss.params = it->second.params;
    } else {
      loss.codes = false;
    }
    attach_kernel(layer, loss, part);
    nodes.push_back(std::move(layer));
    losses.push_back(std::move(loss));
  }

  void attach_kernel(Layer& layer, LayerLoss& loss, const Graph& part) {
    if (program == nullptr) {
      loss.kernel_note = "no oneDNN program";
      return;
    }
    for (const kernels::StepInfo& step : program->steps()) {
      if (step.value != layer.result) continue;
      loss.kernel = step.kernel;
      if (step.reference()) {
        loss.kernel_note = step.reason;
        return;
      }
      if (step.arithmetic) {
        loss.arithmetic = kernels::to_string(*step.arithmetic);
        layer.as_kernel =
            std::make_unique<Executor>(with_kernel_arithmetic(part, step), Precision::cr);
      } else {
        layer.as_kernel = std::make_unique<Executor>(
            part, Precision::cr);  // moves codes: no arithmetic of its own
      }
      return;
    }
    loss.kernel_note = "no step of the program has this output";
  }

  /// The node under profile onednn-v3 with the parameters of the kernel that runs.
  static Graph with_kernel_arithmetic(Graph part, const kernels::StepInfo& step) {
    for (const NodeId n : part.node_ids()) {
      Attributes a = part.node(n).attributes;
      const kernels::IntArithmetic& k = *step.arithmetic;
      a.set("profile", std::string("onednn-v3"));
      a.set("acc", kernels::to_string(k.acc));
      a.set("s8", kernels::to_string(k.s8));
      a.set("comp", kernels::to_string(k.comp));
      a.set("residual_form", kernels::to_string(k.residual));
      part.set_attributes(n, std::move(a));
    }
    return part;
  }

  void add(const Feeds& feeds) {
    const auto gold = run_with(golden, feeds, golden_names);
    const auto ints = run_with(whole, feeds, code_names);
    std::map<std::string, Tensor> fast;
    if (program != nullptr) fast = program->run(feeds, code_names);
    for (std::size_t i = 0; i < nodes.size(); ++i) add_one(nodes[i], losses[i], gold, ints, fast);
  }

  void add_one(const Layer& layer, LayerLoss& loss, const std::map<std::string, Tensor>& gold,
               const std::map<std::string, Tensor>& ints,
               const std::map<std::string, Tensor>& fast) {
    if (const auto want = gold.find(loss.output); want != gold.end() && ints.count(layer.result)) {
      const Tensor& got = ints.at(layer.result);
      loss.cumulative.merge(
          pair_stats(want->second, loss.codes ? dequantized(got, loss.params) : got));
      loss.elements += got.numel();
      if (loss.codes) loss.clipped += count_clipped(got, want->second, loss.params);
      if (const auto alone = run_isolated(layer, gold)) {
        loss.isolated.merge(
            pair_stats(want->second, loss.codes ? dequantized(*alone, loss.params) : *alone));
      }
    }
    compare_kernel(layer, loss, fast);
  }

  std::optional<Tensor> run_isolated(const Layer& layer,
                                     const std::map<std::string, Tensor>& gold) const {
    Feeds feeds;
    for (const std::string& name : layer.data_inputs) {
      const auto q = by_codes.find(name);
      if (q == by_codes.end() || !gold.count(q->second.value)) return std::nullopt;
      feeds[name] = quantized(gold.at(q->second.value), q->second.params);
    }
    return layer.alone->run(feeds).at(layer.result);
  }

  void compare_kernel(const Layer& layer, LayerLoss& loss,
                      const std::map<std::string, Tensor>& fast) const {
    if (!layer.as_kernel || !fast.count(layer.result)) {
      if (layer.as_kernel && loss.kernel_note.empty())
        loss.kernel_note = "value is not kept by the program";
      return;
    }
    Feeds feeds;
    for (const std::string& name : layer.data_inputs) {
      if (!fast.count(name)) {
        loss.kernel_note = "input '" + name + "' is not kept by the program";
        return;
      }
      feeds[name] = fast.at(name);
    }
    const Tensor want = layer.as_kernel->run(feeds).at(layer.result);
    loss.compared += want.numel();
    loss.mismatches += count_mismatches(want, fast.at(layer.result));
  }
};

LayerStudy::LayerStudy(const Graph& original, const LowerResult& lowered, kernels::Program* program)
    : impl_(std::make_unique<Impl>(original, lowered, program)) {}
LayerStudy::~LayerStudy() = default;
void LayerStudy::add(const Feeds& feeds) { impl_->add(feeds); }
const std::vector<LayerLoss>& LayerStudy::layers() const { return impl_->losses; }

Json to_json(const LayerLoss& l) {
  const auto sqnr = [](const PairStats& s) {
    return s.count == 0 ? Json() : metrics_json(s)["sqnr_db"];
  };
  Json j{{"node", l.node}, {"op", l.op}, {"output", l.output}};
  j["sqnr_db"] = {{"isolated", sqnr(l.isolated)}, {"cumulative", sqnr(l.cumulative)}};
  const Json metrics = metrics_json(l.cumulative);
  j["cosine"] = metrics["cosine"];
  j["max_abs"] = metrics["max_abs"];
  if (l.codes) {
    j["scale"] = json_number(l.params.scale);
    j["zero_point"] = l.params.zero_point;
    j["dtype"] = to_string(l.params.dtype);
    j["max_lsb"] = json_number(l.cumulative.max_abs / static_cast<double>(l.params.scale));
    j["clip_rate"] =
        l.elements == 0
            ? Json()
            : json_number(static_cast<double>(l.clipped) / static_cast<double>(l.elements));
  }
  if (l.compared > 0)
    j["onednn"] = {{"kernel", l.kernel},
                   {"arithmetic", l.arithmetic},
                   {"compared", l.compared},
                   {"mismatches", l.mismatches}};
  else
    j["onednn_note"] = l.kernel_note;
  return j;
}

}  // namespace assay
