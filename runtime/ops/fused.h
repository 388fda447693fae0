// Fused operators of Assay's own domain `ai.assay` (since 1): a linear operator, an optional
// residual Add and an optional activation in one node, e.g. ConvRelu, ConvAdd, ConvAddRelu,
// ConvClip, GemmSilu; or AddRelu, AddClip: Add and an activation.
//
// Inputs: X, W, B (optional) and, with Add, a residual R as fourth input that broadcasts; MatMul
// has no B. AddRelu has a and b. Attributes: those of the base operator; `min`, `max` for Clip;
// `act_alpha`, `act_beta` for the activation's alpha and beta (Gemm has attributes alpha and beta
// of its own); `approximate` for Gelu; `rounding`:
//   "staged" (default)  rounds where the separate operators did: base with its bias, Add,
//   activation (Silu: Sigmoid, then Mul); "single"            the exact composite, rounded once
//   (under cr; the other evaluations round each step in their type).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay {

struct FusedForm {
  std::string base;             ///< Conv, ConvTranspose, Gemm, MatMul, or Add (then `add` is false)
  bool add = false;             ///< residual Add after the base
  std::string activation = {};  ///< empty: none
  bool operator==(const FusedForm&) const = default;
};

/// The form that an operator type of ai.assay names; nullopt when it is none.
std::optional<FusedForm> parse_fused(const std::string& op_type);

/// The operator type of a form: parse_fused(fused_type(f)) == f.
std::string fused_type(const FusedForm& form);

/// Every base, and every activation that can be fused.
const std::vector<std::string>& fused_bases();
const std::vector<std::string>& fused_activations();

/// Gives a fused node every attribute of its form that it lacks, at its default (`axes`: spatial
/// axes of a convolution). The writer needs this: all nodes of one type share one function, whose
/// body refers to the attributes.
void complete_fused_attributes(Node& node, std::size_t axes);

/// The activation's parameters as attributes of the ONNX operator of that name (alpha, beta, min,
/// max, approximate).
Attributes activation_attributes(const FusedForm& form, const Attributes& fused);

}  // namespace assay
