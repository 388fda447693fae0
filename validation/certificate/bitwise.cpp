#include "validation/certificate/bitwise.h"

#include <algorithm>
#include <cmath>

#include "validation/certificate/canonical_parts.h"
#include "validation/certificate/expand.h"
#include "validation/certificate/operators.h"

namespace assay {
namespace {

bool same_input(const Graph& g, ValueId a, ValueId b) {
  if (a == b) return true;
  if (!a.valid() || !b.valid()) return false;
  const Tensor* s = g.constant(a);
  const Tensor* t = g.constant(b);
  return s != nullptr && t != nullptr && same_bits(*s, *t);
}

bool repeatable(const Node& n) {
  return n.captures.empty() && n.op_type.rfind("Random", 0) != 0 && !n.is("Bernoulli") &&
         !n.is("Multinomial");
}

bool twins(const Graph& g, const Node& a, const Node& b) {
  if (!same_operator(a, b) || a.inputs.size() != b.inputs.size() ||
      a.outputs.size() != b.outputs.size() || !repeatable(a) || !repeatable(b))
    return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (!same_input(g, a.inputs[i], b.inputs[i])) return false;
  }
  return true;
}

/// The first node that computes what `n` computes, if it is an earlier one.
NodeId earlier_twin(const Graph& g, NodeId n, const std::map<NodeId, std::size_t>& place) {
  const Node& node = g.node(n);
  for (const ValueId v : node.inputs) {
    if (!v.valid() || g.constant(v) != nullptr) continue;
    NodeId first = n;
    for (const NodeId other : g.value(v).readers) {
      if (place.at(other) < place.at(first) && twins(g, g.node(other), node)) first = other;
    }
    return first == n ? NodeId{} : first;
  }
  return {};
}

/// fl((q - z) s) = (q - z) s (1 + d), |d| <= 2^-24, |q - z| < 2^17, lies within 2^-7 steps of q - z
/// and is rounded back to it, if the product does not overflow.
bool exact_grid(const Graph& g, const Node& q, const Node& dq) {
  for (const Node* n : {&q, &dq}) {
    for (const auto& [name, value] : n->attributes.items()) {
      if (name != "axis") return false;
    }
  }
  if (!q.has_input(2) || !dq.has_input(2) || !same_input(g, q.inputs[1], dq.inputs[1]) ||
      !same_input(g, q.inputs[2], dq.inputs[2]) ||
      q.attributes.int_or("axis", 1) != dq.attributes.int_or("axis", 1))
    return false;
  const Tensor* scale = g.constant(q.inputs[1]);
  if (scale == nullptr || scale->dtype() != DType::float32) return false;
  const auto s = scale->data<float>();
  return std::all_of(s.begin(), s.end(), [](float x) { return x > 0 && x < 0x1p110F; });
}

void drop_requantizers(Graph& g) {
  for (const NodeId n : g.topological_order()) {
    const Node& q = g.node(n);
    if (!q.is("QuantizeLinear")) continue;
    const Node* dq = g.producer(q.inputs[0]);
    if (dq == nullptr || !dq->is("DequantizeLinear") || !exact_grid(g, q, *dq)) continue;
    const ValueId codes = dq->inputs[0];
    const ValueId out = q.outputs[0];
    if (g.constant(codes) != nullptr) continue;
    g.erase_node(n);
    g.add_node({.name = g.fresh_node_name("copy"),
                .op_type = "Identity",
                .inputs = {codes},
                .outputs = {out}});
  }
}

bool moves_elements(const Node* n) {
  return n != nullptr &&
         (n->is("Reshape") || n->is("Flatten") || n->is("Squeeze") || n->is("Unsqueeze") ||
          n->is("Slice") || n->is("DepthToSpace") || n->is("Transpose") || n->is("Identity"));
}

bool behind_moves(const Graph& g, NodeId n) {
  return g.node(n).is("BatchNormalization") && moves_elements(g.producer(g.node(n).inputs[0]));
}

}  // namespace

bool normalizes_behind_moves(const Graph& g) {
  const auto nodes = g.node_ids();
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId n) { return behind_moves(g, n); });
}

Graph merge_twins(const Graph& given) {
  Graph g = given;
  std::map<NodeId, std::size_t> place;
  const auto order = g.topological_order();
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (const NodeId n : order) {
    const NodeId twin = earlier_twin(g, n, place);
    if (!twin.valid()) continue;
    const Node node = g.node(n);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.has_output(i) && g.node(twin).has_output(i))
        g.replace_uses(node.outputs[i], g.node(twin).outputs[i]);
    }
  }
  g.remove_dead();
  return g;
}

Graph bitwise_form(const Graph& given, std::map<std::string, Shape> shapes) {
  Rewriter r(join_equal_branches(given), shapes);
  for (const NodeId n : r.graph().topological_order()) {
    if (r.graph().alive(n) && behind_moves(r.graph(), n)) move_step(r, n);
  }
  drop_requantizers(r.graph());
  r.graph().remove_dead();
  return merge_twins(r.graph());
}

}  // namespace assay
