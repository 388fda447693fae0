// Elementwise functions of one float32 tensor, in place when the input dies.
#include <limits>

#include "kernels/onednn/form.h"

namespace assay::kernels::eltwise_kernel {
namespace {

using Desc = dnnl::eltwise_forward::primitive_desc;

std::optional<Eltwise> clip_of(const KernelRequest& r) {
  float low = -std::numeric_limits<float>::infinity(),
        high = std::numeric_limits<float>::infinity();
  low = r.attributes().float_or("min", low);
  high = r.attributes().float_or("max", high);
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!r.has_input(i)) continue;
    if (r.constant(i) == nullptr) return std::nullopt;
    (i == 1 ? low : high) = r.constant(i)->data<float>()[0];
  }
  return eltwise_of({.name = "Clip", .low = low, .high = high});
}

std::optional<Eltwise> function_of(const KernelRequest& r) {
  using A = dnnl::algorithm;
  const std::string& op = r.node().op_type;
  const Attributes& a = r.attributes();
  if (op == "Clip") return clip_of(r);
  if (op == "Pow") {  // x^2 alone: one product, the same bits as the correctly rounded power
    const Tensor* exponent = r.constant(1);
    const bool square =
        exponent != nullptr && exponent->numel() == 1 && to_doubles(*exponent)[0] == 2.0;
    return square ? std::optional(Eltwise{A::eltwise_square}) : std::nullopt;
  }
  if (op == "Abs") return Eltwise{A::eltwise_abs};
  if (op == "Sqrt") return Eltwise{A::eltwise_sqrt};
  if (op == "Exp") return Eltwise{A::eltwise_exp};
  if (op == "HardSigmoid") {
    return eltwise_of(
        {.name = op, .alpha = a.float_or("alpha", 0.2F), .beta = a.float_or("beta", 0.5F)});
  }
  const float alpha = op == "Elu" ? 1.0F : 0.01F;
  return eltwise_of({.name = op, .alpha = a.float_or("alpha", alpha)});
}

KernelAnswer make(const KernelRequest& r) {
  const Slot& x = r.inputs[0];
  if (x.dtype != DType::float32) return Decline{"input is " + to_string(x.dtype)};
  if (x.shape.numel() == 0) return Decline{"empty tensor"};
  const auto f = function_of(r);
  if (!f) return Decline{"its parameters are not constant, or oneDNN has no such function"};
  const MemoryDesc flat = plain_memory(DType::float32, {x.shape.numel()});
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference, f->algorithm, flat, flat,
                f->alpha, f->beta, make_attr());
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::eltwise_forward(*desc)};
  v.inputs = {{DNNL_ARG_SRC, 0, flat}};
  v.outputs = {{DNNL_ARG_DST, 0, flat}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan =
      reads_first_input(r, std::make_unique<PrimitiveKernel>(std::move(v)), x.layout, x.layout);
  if (r.dies[0]) plan.overwrites = 0;
  return plan;
}

const RegisterKernel registered{{.ops = {"Relu", "LeakyRelu", "Clip", "HardSwish", "HardSigmoid",
                                         "Sigmoid", "Tanh", "Elu", "Abs", "Sqrt", "Exp", "Pow"},
                                 .make = make}};
const RegisterKernel own{{.ops = {"HardSwish", "Silu"}, .make = make, .domain = assay_domain}};

}  // namespace
}  // namespace assay::kernels::eltwise_kernel
