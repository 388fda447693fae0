#include "fusion/fused_node.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

constexpr std::array bases = {"ConvTranspose", "Conv", "Gemm", "MatMul", "Add"};
constexpr std::array activations = {"Relu", "Clip", "HardSwish", "HardSigmoid", "Sigmoid", "Tanh", "LeakyRelu", "Silu"};

bool known_activation(const std::string& name) {
  return name.empty() || std::find(activations.begin(), activations.end(), name) != activations.end();
}

/// A Clip bound given as an input: nothing when absent.
std::variant<Decline, std::optional<float>> bound_input(const RuleContext& ctx, const Node& node, std::size_t i) {
  if (!node.has_input(i)) return std::optional<float>{};
  const std::string name = "'" + ctx.graph().name(node.inputs[i]) + "'";
  const Tensor* t = ctx.constant(node.inputs[i]);
  if (t == nullptr) return Decline{"Clip bound " + name + " is not constant", "make " + name + " an initializer"};
  if (t->numel() != 1) return Decline{"Clip bound " + name + " has shape " + to_string(t->shape()) + ", expected a scalar"};
  if (t->dtype() != DType::float32 && t->dtype() != DType::float64) {
    return Decline{"Clip bound " + name + " is " + to_string(t->dtype()) + ", expected float32"};
  }
  const double bound = to_doubles(*t)[0];
  const auto stored = static_cast<float>(bound);
  if (!(static_cast<double>(stored) == bound)) {
    return Decline{"Clip bound " + name + " = " + std::to_string(bound) + " is not a float32 number"};
  }
  return std::optional<float>{stored};
}

std::variant<Decline, Activation> clip(const RuleContext& ctx, const Node& node) {
  Activation a{.type = "Clip"};
  if (ctx.graph().opset() < 11) {
    for (const char* name : {"min", "max"}) {
      if (node.attributes.has(name)) a.attributes.set(name, node.attributes.float_or(name, 0));
    }
    return a;
  }
  for (const auto& [i, name] : {std::pair<std::size_t, const char*>{1, "min"}, {2, "max"}}) {
    const auto bound = bound_input(ctx, node, i);
    if (const auto* why = std::get_if<Decline>(&bound)) return *why;
    if (const auto value = std::get<std::optional<float>>(bound)) a.attributes.set(name, *value);
  }
  return a;
}

std::string operator_of(const Node& node) {
  return node.domain.empty() || node.domain == assay_domain ? node.op_type : std::string();
}

}  // namespace

std::variant<Decline, Activation> as_activation(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  if (node.is("Clip")) return clip(ctx, node);
  Activation a{.type = node.op_type};
  if (node.is("LeakyRelu")) a.attributes.set("alpha", node.attributes.float_or("alpha", 0.01F));
  if (node.is("HardSigmoid")) {
    a.attributes.set("alpha", node.attributes.float_or("alpha", 0.2F));
    a.attributes.set("beta", node.attributes.float_or("beta", 0.5F));
  }
  return a;
}

std::optional<FusedParts> fused_parts(const Node& node) {
  const std::string type = operator_of(node);
  for (const std::string base : bases) {
    if (type.rfind(base, 0) != 0) continue;
    FusedParts parts{.base = base};
    std::string rest = type.substr(base.size());
    if (base != "Add" && rest.rfind("Add", 0) == 0) {
      parts.add = true;
      rest = rest.substr(3);
    }
    if (!known_activation(rest)) continue;
    parts.activation = rest;
    if (node.domain.empty() && (parts.add || !rest.empty())) continue;
    return parts;
  }
  return std::nullopt;
}

Node with_parts(const Node& node, ValueId residual, const std::optional<Activation>& activation) {
  const auto parts = fused_parts(node);
  ASSAY_ASSERT(parts.has_value() && parts->activation.empty());
  Node fused = node;
  fused.domain = assay_domain;
  fused.op_type = parts->base + (parts->add || residual.valid() ? "Add" : "") + (activation ? activation->type : "");
  if (residual.valid()) {
    fused.inputs.resize(4);
    fused.inputs[3] = residual;
  }
  if (activation) {
    for (const auto& [name, value] : activation->attributes.items()) fused.attributes.set(name, value);
  }
  fused.attributes.set("rounding", std::string("staged"));
  return fused;
}

}  // namespace assay
