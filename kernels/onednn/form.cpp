#include "kernels/onednn/form.h"

#include <limits>

namespace assay::kernels {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

bool take_prefix(std::string& text, const std::string& prefix) {
  if (text.rfind(prefix, 0) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

}  // namespace

std::optional<Eltwise> eltwise_of(const ActivationParts& p) {
  using A = dnnl::algorithm;
  if (p.name == "Relu") return Eltwise{A::eltwise_relu, 0.0F, 0.0F};
  if (p.name == "LeakyRelu") return Eltwise{A::eltwise_relu, p.alpha, 0.0F};
  if (p.name == "Clip") return Eltwise{A::eltwise_clip, p.low, p.high};
  if (p.name == "HardSwish") return Eltwise{A::eltwise_hardswish, 1.0F / 6.0F, 0.5F};
  if (p.name == "HardSigmoid") return Eltwise{A::eltwise_hardsigmoid, p.alpha, p.beta};
  if (p.name == "Silu") return Eltwise{A::eltwise_swish, 1.0F, 0.0F};
  if (p.name == "Sigmoid") return Eltwise{A::eltwise_logistic, 0.0F, 0.0F};
  if (p.name == "Tanh") return Eltwise{A::eltwise_tanh, 0.0F, 0.0F};
  if (p.name == "Elu") return Eltwise{A::eltwise_elu, p.alpha, 0.0F};
  return std::nullopt;
}

std::optional<DotForm> dot_form(const Node& node) {
  std::string rest = node.op_type;
  DotForm form;
  for (const char* base : {"ConvTranspose", "Conv", "Gemm", "MatMul"}) {
    if (take_prefix(rest, base)) {
      form.base = base;
      break;
    }
  }
  if (form.base.empty()) return std::nullopt;
  if (node.domain != assay_domain) {
    return rest.empty() ? std::optional(form) : std::nullopt;
  }
  form.residual = take_prefix(rest, "Add");
  if (rest.empty()) return form;
  const Attributes& a = node.attributes;
  form.activation =
      eltwise_of({.name = rest,
                  .low = a.float_or("min", -largest),
                  .high = a.float_or("max", largest),
                  .alpha = a.float_or("act_alpha", rest == "HardSigmoid" ? 0.2F : 0.01F),
                  .beta = a.float_or("act_beta", 0.5F)});
  return form.activation ? std::optional(form) : std::nullopt;
}

void append_activation(dnnl::post_ops& ops, const std::optional<Eltwise>& activation) {
  if (activation) ops.append_eltwise(activation->algorithm, activation->alpha, activation->beta);
}

}  // namespace assay::kernels
