// Faults of writing the fused graph.
#include <cmath>

#include "runtime/ops/fused.h"
#include "tests/random_graphs/faults.h"

namespace assay::testing::writing_faults {
namespace {

/// Scale and shift of a normalization that stays absorb a unit of its mean and variance.
bool absorbed(const Graph& g, ValueId v) {
  for (const NodeId n : g.value(v).readers) {
    const Node& node = g.node(n);
    if (node.is("BatchNormalization") && (node.inputs[3] == v || node.inputs[4] == v)) return true;
  }
  return false;
}

/// Any one element of any constant that a rule made, by one unit in the last place.
bool one_ulp(FaultSite& s) {
  std::vector<ValueId> made;
  for (const std::string& name : s.constants) {
    const auto v = s.graph.find_value(name);
    if (!v || s.graph.constant(*v) == nullptr || s.graph.constant(*v)->numel() == 0) continue;
    if (s.graph.constant(*v)->dtype() == DType::float32 && s.graph.use_count(*v) > 0 &&
        !absorbed(s.graph, *v))
      made.push_back(*v);
  }
  if (made.empty()) return false;
  const ValueId v = s.random.pick(made);
  Tensor t = s.graph.constant(v)->clone();
  const std::int64_t at = s.random.below(t.numel());
  s.what = " of '" + s.graph.name(v) + "'[" + std::to_string(at) + "]";
  auto& x = t.mutable_data<float>()[static_cast<std::size_t>(at)];
  x = std::nextafter(x, s.random.chance(0.5) ? INFINITY : -INFINITY);
  s.graph.set_initializer(v, t);
  return true;
}

/// Weights scaled along the wrong axis look like weights whose channels are exchanged.
bool channels_exchanged(FaultSite& s) {
  for (const std::string& name : s.constants) {
    const auto v = s.graph.find_value(name);
    const Tensor* t = v ? s.graph.constant(*v) : nullptr;
    if (t == nullptr || t->shape().rank() < 1 || t->shape()[0] < 2 || s.graph.use_count(*v) == 0)
      continue;
    Tensor rotated(t->dtype(), t->shape());
    const auto from = t->raw();
    const auto to = rotated.mutable_raw();
    const std::size_t row = from.size() / static_cast<std::size_t>(t->shape()[0]);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[(i + row) % from.size()];
    s.graph.set_initializer(*v, rotated);
    s.what = " of '" + name + "'";
    return true;
  }
  return false;
}

void replace(Graph& g, NodeId n, Node node) {
  g.erase_node(n);
  g.add_node(std::move(node));
}

bool bias_lost(FaultSite& s) {
  for (const NodeId n : s.nodes_of("*")) {
    Node node = s.graph.node(n);
    if (s.constant(n, 2) == nullptr || node.inputs.size() > 3) continue;
    if (node.is("Clip") || node.op_type == "QuantizeLinear" || node.op_type == "BatchNormalization")
      continue;
    node.inputs.resize(2);
    replace(s.graph, n, std::move(node));
    return true;
  }
  return false;
}

bool residual_lost(FaultSite& s) {
  for (const NodeId n : s.nodes_of("*")) {
    Node node = s.graph.node(n);
    if (node.domain != assay_domain || node.inputs.size() < 4) continue;
    FusedForm form = *parse_fused(node.op_type);
    if (form.activation.empty()) continue;
    form.add = false;
    node.op_type = fused_type(form);
    node.inputs.resize(3);
    replace(s.graph, n, std::move(node));
    return true;
  }
  return false;
}

bool activation_lost(FaultSite& s) {
  for (const NodeId n : s.nodes_of("*")) {
    Node node = s.graph.node(n);
    if (node.domain != assay_domain) continue;
    FusedForm form = *parse_fused(node.op_type);
    if (form.activation.empty() || !form.add) continue;
    form.activation.clear();
    node.op_type = fused_type(form);
    for (const char* name : {"min", "max", "act_alpha", "act_beta", "approximate"})
      node.attributes.erase(name);
    replace(s.graph, n, std::move(node));
    return true;
  }
  return false;
}

using Kind = Fault::Kind;
const RegisterFault faults[] = {
    RegisterFault({"one_ulp", Kind::writing, false, one_ulp}),
    RegisterFault({"channels_exchanged", Kind::writing, false, channels_exchanged}),
    RegisterFault({"bias_lost", Kind::writing, true, bias_lost}),
    RegisterFault({"residual_lost", Kind::writing, true, residual_lost}),
    RegisterFault({"activation_lost", Kind::writing, true, activation_lost}),
};

}  // namespace
}  // namespace assay::testing::writing_faults
