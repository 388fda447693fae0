#include "kernels/onednn/form.h"

#include "runtime/ops/fused.h"

namespace assay::kernels {

std::optional<Eltwise> eltwise_of(const ActivationParts& p) {
  using A = dnnl::algorithm;
  if (p.name == "Relu") return Eltwise{A::eltwise_relu, 0.0F, 0.0F};
  if (p.name == "Linear") return Eltwise{A::eltwise_linear, p.alpha, p.beta};
  if (p.name == "LeakyRelu") return Eltwise{A::eltwise_relu, p.alpha, 0.0F};
  if (p.name == "Clip") return Eltwise{A::eltwise_clip, p.low, p.high};
  if (p.name == "HardSwish") return Eltwise{A::eltwise_hardswish, 1.0F / 6.0F, 0.5F};
  if (p.name == "HardSigmoid") return Eltwise{A::eltwise_hardsigmoid, p.alpha, p.beta};
  if (p.name == "Silu") return Eltwise{A::eltwise_swish, 1.0F, 0.0F};
  if (p.name == "Sigmoid") return Eltwise{A::eltwise_logistic, 0.0F, 0.0F};
  if (p.name == "Tanh") return Eltwise{A::eltwise_tanh, 0.0F, 0.0F};
  if (p.name == "Elu") return Eltwise{A::eltwise_elu, p.alpha, 0.0F};
  if (p.name == "Gelu" && p.approximate == "none") return Eltwise{A::eltwise_gelu_erf, 0.0F, 0.0F};
  if (p.name == "Gelu" && p.approximate == "tanh") return Eltwise{A::eltwise_gelu_tanh, 0.0F, 0.0F};
  return std::nullopt;
}

std::optional<DotForm> dot_form(const Node& node) {
  if (node.domain != assay_domain) return DotForm{.base = node.op_type};
  const auto fused = parse_fused(node.op_type);
  if (!fused) return std::nullopt;
  DotForm form{.base = fused->base, .residual = fused->add};
  if (fused->activation.empty()) return form;
  const Attributes a = activation_attributes(*fused, node.attributes);
  form.activation = eltwise_of({.name = fused->activation,
                                .low = a.float_or("min", -infinite),
                                .high = a.float_or("max", infinite),
                                .alpha = a.float_or("alpha", 0.0F),
                                .beta = a.float_or("beta", 0.0F),
                                .approximate = a.string_or("approximate", "none")});
  return form.activation ? std::optional(form) : std::nullopt;
}

std::optional<Decline> refuse_operands(const KernelRequest& r) {
  if (r.inputs[0].dtype != DType::float32)
    return Decline{"input is " + to_string(r.inputs[0].dtype)};
  if (r.constant(1) == nullptr) return Decline{"weights are not constant"};
  if (r.has_input(2) && r.constant(2) == nullptr) return Decline{"bias is not constant"};
  return std::nullopt;
}

std::vector<Eltwise> eltwise_tail(const std::vector<ActivationParts>& tail) {
  std::vector<Eltwise> list;
  for (const ActivationParts& p : tail) list.push_back(eltwise_of(p).value());
  return list;
}

void append_activation(dnnl::post_ops& ops, const std::optional<Eltwise>& activation) {
  if (activation) ops.append_eltwise(activation->algorithm, activation->alpha, activation->beta);
}

}  // namespace assay::kernels
