// Reading the attributes of the lowered integer operators (QConv, QGemm, QAdd, Q*Pool, QConcat).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/onednn/form.h"

namespace assay::kernels {

/// One quantized tensor: real = scale * (code - zero_point).
struct Codes {
  DType dtype = DType::undefined;
  float scale = 1;
  std::int32_t zero_point = 0;
  float low() const;  ///< smallest code, as float
  float high() const;
};

struct IntForm {
  Codes x;
  std::vector<float> w_scales = {};
  Codes y;  ///< dtype float32: not quantized
  std::optional<Codes> residual = std::nullopt;
  std::optional<Codes> mid = std::nullopt;  ///< a Q/DQ pair kept in front of the residual
  std::optional<Eltwise> activation = std::nullopt;
};

/// Reads PREFIX_scale, PREFIX_zero_point with the element type of the slot.
Codes codes_of(const Attributes& a, const std::string& prefix, DType dtype);

/// The form of a QConv or QGemm node, or why it cannot run here.
std::variant<IntForm, Decline> int_form(const KernelRequest& r);

/// Activation from `activation`, `act_min`, `act_max`, `act_alpha`, `act_beta`; Decline when oneDNN
/// has none such.
std::variant<std::optional<Eltwise>, Decline> int_activation(const Attributes& a);

/// The activation without what the output's own clamp does anyway, bit for bit; see the source.
std::optional<Eltwise> without_redundant_bounds(const std::optional<Eltwise>& activation,
                                                const Codes& y);

/// Post-ops in the order of arithmetic.h: mid rounding, residual sum, activation.
dnnl::post_ops int_post_ops(const IntForm& form);

/// Scales and zero points: declares them in `attr` and adds their values to `constants`.
void add_quantization(const IntForm& form, int weight_mask, dnnl::primitive_attr& attr,
                      std::map<int, dnnl::memory>& constants);

/// Which arithmetic a kernel of that name runs under the instruction set in force.
IntArithmetic arithmetic_of(const IntForm& form, const std::string& implementation, bool depthwise);

/// How the residual (input 3) reaches the output: in place when it dies, by a copy when it is read
/// later, dequantized when the output is float32.
void plan_residual(const KernelRequest& r, const IntForm& form, std::int64_t count,
                   PrimitiveKernel& kernel, KernelPlan& plan);

}  // namespace assay::kernels
