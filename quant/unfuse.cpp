#include "quant/unfuse.h"

#include "runtime/op.h"
#include "runtime/ops/fused.h"

namespace assay {
namespace {

Attributes without(Attributes a, std::initializer_list<const char*> names) {
  for (const char* name : names) a.erase(name);
  return a;
}

/// Clip's bounds are inputs since opset 11.
void add_bounds(Graph& g, const Attributes& fused, Node& clip) {
  for (const char* name : {"min", "max"}) {
    ValueId bound;
    if (fused.has(name)) {
      const Tensor t = Tensor::scalar(fused.float_or(name, 0));
      if (g.opset() >= 11)
        bound = g.add_initializer(g.fresh_name(clip.name + "_" + name), t);
      else
        clip.attributes.set(name, fused.float_or(name, 0));
    }
    if (g.opset() >= 11) clip.inputs.push_back(bound);
  }
  while (!clip.inputs.back().valid()) clip.inputs.pop_back();
}

void add_silu(Graph& g, ValueId in, ValueId out, const std::string& name) {
  const ValueId gate = g.add_value(g.fresh_name(g.name(out) + "_sigmoid"), g.value(in).type);
  g.add_node({.name = g.fresh_node_name(name + "_sigmoid"),
              .op_type = "Sigmoid",
              .inputs = {in},
              .outputs = {gate}});
  g.add_node(
      {.name = g.fresh_node_name(name), .op_type = "Mul", .inputs = {in, gate}, .outputs = {out}});
}

void add_activation(Graph& g, const Node& fused, const FusedForm& form, ValueId in) {
  const ValueId out = fused.outputs[0];
  const std::string name = fused.name + "_activation";
  if (form.activation == "Silu") return add_silu(g, in, out, name);
  Node node{.name = g.fresh_node_name(name),
            .op_type = form.activation,
            .inputs = {in},
            .outputs = {out}};
  if (form.activation == "Clip")
    add_bounds(g, fused.attributes, node);
  else
    node.attributes = activation_attributes(form, fused.attributes);
  g.add_node(std::move(node));
}

void split(Graph& g, NodeId n) {
  const Node fused = g.node(n);
  const FusedForm parts = *parse_fused(fused.op_type);
  const ValueId out = fused.outputs[0];
  g.erase_node(n);
  const auto inner = [&](const char* suffix, bool last) {
    return last ? out : g.add_value(g.fresh_name(g.name(out) + suffix), g.value(out).type);
  };
  Node base{.name = fused.name,
            .op_type = parts.base,
            .inputs = fused.inputs,
            .attributes = without(fused.attributes, {"min", "max", "rounding", "act_alpha",
                                                     "act_beta", "approximate"})};
  const bool activation_owns_alpha = parts.base != "Gemm";
  if (activation_owns_alpha) base.attributes = without(base.attributes, {"alpha", "beta"});
  if (parts.add) base.inputs.resize(3);
  while (!base.inputs.empty() && !base.inputs.back().valid()) base.inputs.pop_back();
  ValueId last = inner("_linear", !parts.add && parts.activation.empty());
  base.outputs = {last};
  g.add_node(std::move(base));
  if (parts.add) {
    const ValueId sum = inner("_add", parts.activation.empty());
    g.add_node({.name = g.fresh_node_name(fused.name + "_add"),
                .op_type = "Add",
                .inputs = {last, fused.inputs[3]},
                .outputs = {sum}});
    last = sum;
  }
  if (!parts.activation.empty()) add_activation(g, fused, parts, last);
}

}  // namespace

Graph unfuse(const Graph& g) {
  Graph out = g;
  for (const NodeId n : g.node_ids()) {
    if (g.node(n).domain == assay_domain && parse_fused(g.node(n).op_type)) split(out, n);
  }
  out.verify();
  return out;
}

}  // namespace assay
