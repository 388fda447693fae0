#include "quant/plan.h"

#include <algorithm>
#include <array>
#include <functional>

#include "quant/target_gate.h"

namespace assay {
namespace {

bool is_one_of(const Node& node, std::initializer_list<const char*> types) {
  return std::any_of(types.begin(), types.end(), [&](const char* t) { return node.is(t); });
}

std::optional<Decline> check_weight(const Graph& g, const Node& node) {
  const Tensor* w = node.has_input(1) ? g.constant(node.inputs[1]) : nullptr;
  const std::string name = node.has_input(1) ? "'" + g.name(node.inputs[1]) + "'" : "";
  if (w == nullptr)
    return Decline{"weight " + name + " is not constant",
                   "make it an initializer that no caller overrides"};
  if (w->dtype() != DType::float32)
    return Decline{"weight " + name + " is " + to_string(w->dtype()) + ", not float32"};
  if (w->numel() == 0) return Decline{"weight " + name + " is empty"};
  const bool matrix = is_one_of(node, {"Gemm", "MatMul"});
  if (matrix && w->shape().rank() != 2) {
    return Decline{"weight " + name + " has rank " + std::to_string(w->shape().rank()) +
                   ", expected 2"};
  }
  if (!matrix && w->shape().rank() < 3)
    return Decline{"weight " + name + " has rank " + std::to_string(w->shape().rank())};
  return std::nullopt;
}

std::optional<Decline> check_gemm(const Graph& g, const Node& node) {
  const Attributes& a = node.attributes;
  if (a.int_or("transA", 0) != 0)
    return Decline{"Gemm has transA = 1", "transpose the input before it"};
  if (a.float_or("alpha", 1) != 1 || (node.has_input(2) && a.float_or("beta", 1) != 1)) {
    return Decline{"Gemm has alpha or beta other than 1", "fold them into the weight and the bias"};
  }
  if (!node.has_input(2)) return std::nullopt;
  const Tensor* c = g.constant(node.inputs[2]);
  const Tensor& w = *g.constant(node.inputs[1]);
  const std::int64_t n = w.shape()[a.int_or("transB", 0) != 0 ? 0 : 1];
  if (c == nullptr || c->numel() != n || c->shape()[-1] != n || c->dtype() != DType::float32) {
    return Decline{"Gemm adds something other than one constant per column"};
  }
  return std::nullopt;
}

std::optional<Decline> check_linear(const Graph& g, const Node& node) {
  if (auto why = check_weight(g, node)) return why;
  if (node.is("Gemm")) return check_gemm(g, node);
  if (node.is("MatMul") || !node.has_input(2)) return std::nullopt;
  const Tensor* b = g.constant(node.inputs[2]);
  if (b == nullptr)
    return Decline{"bias is not constant", "make it an initializer that no caller overrides"};
  const Tensor& w = *g.constant(node.inputs[1]);
  const std::int64_t channels =
      node.is("Conv") ? w.shape()[0] : w.shape()[1] * node.attributes.int_or("group", 1);
  if (b->numel() != channels || b->dtype() != DType::float32)
    return Decline{"bias is not one float32 per channel"};
  return std::nullopt;
}

std::optional<Decline> check_add(const Graph& g, const Node& node, const StaticTypes& types) {
  const TensorType& a = types.type(node.inputs[0]);
  const TensorType& b = types.type(node.inputs[1]);
  for (const ValueId v : node.inputs) {
    if (g.constant(v) != nullptr)
      return Decline{"adds the constant '" + g.name(v) + "'", "fold it into a bias"};
  }
  if (a.dims && b.dims && *a.dims != *b.dims) {
    return Decline{"operands differ in shape: " + to_string(a) + " and " + to_string(b)};
  }
  return std::nullopt;
}

/// Builds the plan in steps; each leaves `plan` consistent.
class Planner {
 public:
  Planner(const Graph& g, const CalibrationTable* table, const QuantConfig& config)
      : g_(g),
        table_(table),
        config_(config),
        order_(g.topological_order()),
        types_(infer_types(g)),
        gate_(g, config) {}

  QuantPlan make() {
    for (const NodeId n : order_) judge(n);
    for (const NodeId n : order_) demand_inputs(n);
    demand_upward();
    settle_params();
    explain_passive();
    check_names();
    return std::move(plan_);
  }

 private:
  using Role = QuantRole;

  bool matches(const std::string& pattern, NodeId n) {
    const Node& node = g_.node(n);
    bool fits = fits_wildcard(pattern, node.name) || fits_wildcard(pattern, node.op_type);
    for (const ValueId v : node.outputs)
      fits = fits || (v.valid() && fits_wildcard(pattern, g_.name(v)));
    if (fits) used_names_.insert(pattern);
    return fits;
  }

  std::optional<Decline> check_skip(NodeId n) {
    for (const std::string& pattern : config_.skip) {
      if (matches(pattern, n)) return Decline{"skipped by the configuration ('" + pattern + "')"};
    }
    for (const auto& [name, layer] : config_.layers) {
      if (layer.skip && matches(name, n))
        return Decline{"skipped by the configuration (layer '" + name + "')"};
    }
    return std::nullopt;
  }

  std::optional<Decline> check_value(ValueId v) {
    const std::string& name = g_.name(v);
    if (g_.constant(v) != nullptr) return Decline{"input '" + name + "' is constant"};
    const DType t = types_.type(v).dtype;
    if (t != DType::undefined && t != DType::float32)
      return Decline{"input '" + name + "' is " + to_string(t)};
    if (table_ != nullptr && table_->find(name) == nullptr) {
      const bool seen = table_->ranges.count(name) != 0;
      return Decline{"input '" + name +
                     (seen ? "' held no finite value in calibration" : "' was not calibrated")};
    }
    return std::nullopt;
  }

  std::vector<ValueId> activations(const Node& node) const {
    const Role role = role_of(node);
    if (role == Role::linear || role == Role::copy) return {node.inputs[0]};
    return node.inputs;
  }

  std::optional<Decline> check(NodeId n) {
    const Node& node = g_.node(n);
    const Role role = role_of(node);
    if (role == Role::none) return Decline{node.op_type + " has no integer form"};
    if (auto why = check_skip(n)) return why;
    if (auto why = gate_.refusal(n)) {
      by_target_.insert(n);
      return why;
    }
    if (node.inputs.empty() || !node.has_input(0)) return Decline{"has no input"};
    if (role == Role::linear) {
      if (auto why = check_linear(g_, node)) return why;
    }
    if (role == Role::add) {
      if (auto why = check_add(g_, node, types_)) return why;
    }
    if (node.outputs.size() > 1) return Decline{"has more than one output"};
    for (const ValueId v : activations(node)) {
      if (auto why = check_value(v)) return why;
    }
    return std::nullopt;
  }

  void judge(NodeId n) {
    const Node& node = g_.node(n);
    NodeVerdict v{.node = node.name,
                  .op_type = node.op_type,
                  .output = node.has_output(0) ? g_.name(node.outputs[0]) : ""};
    if (const auto why = check(n)) {
      v.reason = why->reason;
      v.edit = why->edit;
      v.by_target = by_target_.count(n) != 0;
    } else {
      const Role role = role_of(node);
      v.quantized = role == Role::linear || role == Role::add;
      if (!v.quantized) passive_.insert(n);
      if (role == Role::linear && gate_.per_tensor(n)) plan_.per_tensor.insert(n);
    }
    plan_.nodes[n] = v;
  }

  void demand(ValueId v) { plan_.values.emplace(v, QuantParams{}); }

  /// With the rounding between Conv and Add dropped, the later of the Add's own linear operands
  /// stays unrounded.
  std::optional<ValueId> unrounded_operand(const Node& add) const {
    if (config_.keep_mid_rounding) return std::nullopt;
    std::optional<ValueId> latest;
    std::size_t position = 0;
    for (const ValueId v : add.inputs) {
      const NodeId p = g_.value(v).producer;
      if (!p.valid() || g_.use_count(v) != 1 || !plan_.quantized(p) ||
          role_of(g_.node(p)) != Role::linear)
        continue;
      const auto at =
          static_cast<std::size_t>(std::find(order_.begin(), order_.end(), p) - order_.begin());
      if (latest && at < position) continue;
      latest = v;
      position = at;
    }
    return latest;
  }

  void demand_inputs(NodeId n) {
    if (!plan_.quantized(n)) return;
    const Node& node = g_.node(n);
    if (role_of(node) == Role::linear) return demand(node.inputs[0]);
    const auto free = unrounded_operand(node);
    if (free) plan_.dropped_mid.push_back(*free);
    for (const ValueId v : node.inputs) {
      if (!free || v != *free) demand(v);
    }
    if (config_.align_residual && !free) unite(node.inputs[0], node.inputs[1]);
  }

  /// Pools and copies take part when their result is demanded.
  void demand_upward() {
    for (auto n = order_.rbegin(); n != order_.rend(); ++n) {
      const Node& node = g_.node(*n);
      if (passive_.count(*n) == 0 || plan_.values.count(node.outputs[0]) == 0) continue;
      plan_.nodes[*n].quantized = true;
      for (const ValueId v : activations(node)) demand(v);
      if (role_of(node) == Role::copy) unite(node.inputs[0], node.outputs[0]);
    }
  }

  void explain_passive() {
    for (const NodeId n : passive_) {
      NodeVerdict& v = plan_.nodes[n];
      if (!v.quantized) v.reason = "no quantized operator reads its result";
    }
  }

  ValueId leader(ValueId v) {
    while (leaders_.count(v) != 0) v = leaders_[v];
    return v;
  }
  void unite(ValueId a, ValueId b) {
    a = leader(a);
    b = leader(b);
    if (a != b) leaders_[b] = a;
  }

  const LayerConfig* layer_of(ValueId v) {
    for (const auto& [name, layer] : config_.layers) {
      const NodeId p = g_.value(v).producer;
      const bool fits =
          fits_wildcard(name, g_.name(v)) || (p.valid() && fits_wildcard(name, g_.node(p).name));
      if (fits) used_names_.insert(name);
      if (fits) return &layer;
    }
    return nullptr;
  }

  Range range_of(ValueId v) {
    const LayerConfig* layer = layer_of(v);
    if (layer != nullptr && layer->range) return *layer->range;
    if (table_ == nullptr) return {0, 1};
    const CalibratedRange* r = table_->find(g_.name(v));
    return r == nullptr ? Range{} : r->chosen;
  }

  void settle_params() {
    std::map<ValueId, Range> hull;
    std::map<ValueId, ActivationScheme> schemes;
    for (const auto& [v, unused] : plan_.values) {
      const Range r = range_of(v);
      const auto [it, first] = hull.try_emplace(leader(v), r);
      if (!first) it->second = {std::min(it->second.low, r.low), std::max(it->second.high, r.high)};
      const LayerConfig* layer = layer_of(v);
      const bool own = layer != nullptr && layer->scheme.has_value();
      if (own)
        schemes[leader(v)] = *layer->scheme;
      else
        schemes.try_emplace(leader(v), config_.scheme);
    }
    for (auto& [v, params] : plan_.values) {
      plan_.ranges[v] = hull.at(leader(v));
      params = activation_params(plan_.ranges[v], schemes.at(leader(v)));
    }
  }

  void check_names() {
    const auto require = [&](const std::string& name, const char* what) {
      if (used_names_.count(name) != 0) return;
      for (const NodeId n : order_) {
        if (matches(name, n)) return;
      }
      throw Error({.what = std::string(what) + " of the quantization configuration fits nothing",
                   .got = "'" + name + "'",
                   .expected = "a node name, value name or operator type of the graph"});
    };
    for (const std::string& pattern : config_.skip) require(pattern, "a skip entry");
    for (const auto& [name, layer] : config_.layers) require(name, "a layer");
  }

  const Graph& g_;
  const CalibrationTable* table_;
  const QuantConfig& config_;
  std::vector<NodeId> order_;
  StaticTypes types_;
  TargetGate gate_;
  std::set<NodeId> by_target_;
  QuantPlan plan_;
  std::set<NodeId> passive_;
  std::map<ValueId, ValueId> leaders_;
  std::set<std::string> used_names_;
};

}  // namespace

bool QuantPlan::quantized(NodeId n) const {
  const auto it = nodes.find(n);
  return it != nodes.end() && it->second.quantized;
}

QuantRole role_of(const Node& node) {
  if (is_one_of(node, {"Conv", "ConvTranspose", "Gemm", "MatMul"})) return QuantRole::linear;
  if (node.is("Add")) return QuantRole::add;
  if (is_one_of(node, {"GlobalAveragePool", "AveragePool", "Concat"})) return QuantRole::pool;
  if (is_one_of(node, {"MaxPool", "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze",
                       "Identity", "Slice", "DepthToSpace", "SpaceToDepth"})) {
    return QuantRole::copy;
  }
  return QuantRole::none;
}

std::int64_t weight_axis(const Graph& g, const Node& node) {
  if (node.is("Conv")) return 0;
  if (node.is("ConvTranspose")) return 1;
  if (node.is("Gemm")) return node.attributes.int_or("transB", 0) != 0 ? 0 : 1;
  return g.constant(node.inputs[1])->shape().rank() - 1;
}

QuantPlan make_plan(const Graph& g, const CalibrationTable* table, const QuantConfig& config) {
  return Planner(g, table, config).make();
}

}  // namespace assay
