// What a dot-product node computes in one go: base operator, optional residual, optional
// activation.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "kernels/onednn/engine.h"
#include "kernels/tail.h"

namespace assay::kernels {

inline constexpr float infinite = std::numeric_limits<float>::infinity();

/// An elementwise function as oneDNN describes it.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;
};

/// "Conv" + "Add" + "Relu" and so on.
struct DotForm {
  std::string base;
  bool residual = false;
  std::optional<Eltwise> activation = std::nullopt;
};

/// nullopt when oneDNN has no function of the same formula.
std::optional<Eltwise> eltwise_of(const ActivationParts& parts);

/// The form of a plain node (Conv, ConvTranspose, Gemm, MatMul) or of a fused one; nullopt for
/// anything else.
std::optional<DotForm> dot_form(const Node& node);

/// Why the operands of a float32 convolution do not serve: another type, or weights or a bias that
/// are not constant.
std::optional<Decline> refuse_operands(const KernelRequest& request);

/// Appends the activation as a post-op.
void append_activation(dnnl::post_ops& ops, const std::optional<Eltwise>& activation);

/// The tail of a request as post-ops.
std::vector<Eltwise> eltwise_tail(const std::vector<ActivationParts>& tail);

}  // namespace assay::kernels
