#include "fusion/fused_node.h"

#include <algorithm>

namespace assay {
namespace {

/// A Clip bound given as an input: nothing when absent.
std::variant<Decline, std::optional<float>> bound_input(const RuleContext& ctx, const Node& node,
                                                        std::size_t i) {
  if (!node.has_input(i)) return std::optional<float>{};
  const std::string name = "'" + ctx.graph().name(node.inputs[i]) + "'";
  const Tensor* t = ctx.constant(node.inputs[i]);
  if (t == nullptr)
    return Decline{"Clip bound " + name + " is not constant", "make " + name + " an initializer"};
  if (t->numel() != 1)
    return Decline{
        "Clip bound " + name + " has shape " + to_string(t->shape()) + ", expected a scalar",
        "store it as a scalar"};
  if (t->dtype() != DType::float32 && t->dtype() != DType::float64) {
    return Decline{"Clip bound " + name + " is " + to_string(t->dtype()) + ", expected float32",
                   "store it as float32"};
  }
  const double bound = to_doubles(*t)[0];
  const auto stored = static_cast<float>(bound);
  if (!(static_cast<double>(stored) == bound)) {
    return Decline{
        "Clip bound " + name + " = " + std::to_string(bound) + " is not a float32 number",
        "round it to float32"};
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

/// Spatial axes of a convolution; 0 for the others.
std::size_t spatial_axes(const RuleContext& ctx, const Node& node, const std::string& base) {
  if (base != "Conv" && base != "ConvTranspose") return 0;
  const auto kernel = node.attributes.ints_or("kernel_shape", {});
  if (!kernel.empty()) return kernel.size();
  const std::int64_t rank = std::max(ctx.rank(node.inputs[1]), ctx.rank(node.inputs[0]));
  return rank > 2 ? static_cast<std::size_t>(rank - 2) : 0;
}

}  // namespace

std::optional<Decline> cannot_write(const RuleContext& ctx, NodeId n) {
  const std::int64_t opset = ctx.graph().opset();
  const Node& node = ctx.node(n);
  const std::string& type = node.op_type;
  if (type != "LeakyRelu" && type != "Elu" && type != "HardSigmoid" && type != "Clip")
    return std::nullopt;
  if (ctx.type(node.outputs[0]).dtype == DType::float64) {
    return Decline{"a fused " + type + " has float32 numbers, '" +
                       ctx.graph().name(node.outputs[0]) + "' is float64",
                   "use float32"};
  }
  if (opset >= 12) return std::nullopt;
  return Decline{
      "a fused " + type + " cannot be written at opset " + std::to_string(opset) +
          ": its numbers are attributes of a function, which need the Constant of opset 12",
      "convert the model to opset 12"};
}

std::variant<Decline, Activation> as_activation(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  if (node.is("Clip")) return clip(ctx, node);
  Activation a{.type = node.op_type};
  if (node.is("LeakyRelu")) a.attributes.set("act_alpha", node.attributes.float_or("alpha", 0.01F));
  if (node.is("Elu")) a.attributes.set("act_alpha", node.attributes.float_or("alpha", 1.0F));
  if (node.is("Gelu"))
    a.attributes.set("approximate", node.attributes.string_or("approximate", "none"));
  if (node.is("HardSigmoid")) {
    a.attributes.set("act_alpha", node.attributes.float_or("alpha", 0.2F));
    a.attributes.set("act_beta", node.attributes.float_or("beta", 0.5F));
  }
  return a;
}

std::optional<Decline> cannot_fuse(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  if (node.attributes.has("output_shape")) {
    return Decline{describe(node) + " has output_shape, which the fused operator does not",
                   "write pads and output_padding"};
  }
  const std::string base = node.domain.empty() ? node.op_type : parse_fused(node.op_type)->base;
  const bool convolution = base == "Conv" || base == "ConvTranspose";
  if (convolution && spatial_axes(ctx, node, base) == 0) {
    return Decline{"the number of spatial axes of " + describe(node) + " is not known",
                   "give it a kernel_shape"};
  }
  return std::nullopt;
}

Node with_parts(const RuleContext& ctx, NodeId n, ValueId residual,
                const std::optional<Activation>& activation) {
  Node fused = ctx.node(n);
  FusedForm form{.base = fused.op_type};
  if (fused.domain == assay_domain) form = *parse_fused(fused.op_type);
  ASSAY_ASSERT(form.activation.empty() && !(form.add && residual.valid()));
  form.add = form.add || residual.valid();
  if (activation) form.activation = activation->type;
  const std::size_t axes = spatial_axes(ctx, fused, form.base);
  fused.domain = assay_domain;
  fused.op_type = fused_type(form);
  if (residual.valid()) {
    fused.inputs.resize(4);
    fused.inputs[3] = residual;
  }
  if (activation) {
    for (const auto& [name, value] : activation->attributes.items())
      fused.attributes.set(name, value);
  }
  fused.attributes.set("rounding", std::string("staged"));
  complete_fused_attributes(fused, axes);
  return fused;
}

}  // namespace assay
