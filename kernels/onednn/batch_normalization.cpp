// BatchNormalization at inference with constant statistics: y = scale * (x - mean) / sqrt(var +
// epsilon) + bias.
#include "kernels/onednn/engine.h"

namespace assay::kernels::batch_normalization_kernel {
namespace {

using Desc = dnnl::batch_normalization_forward::primitive_desc;

constexpr int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
                             DNNL_ARG_VARIANCE};

std::optional<Decline> refuse(const KernelRequest& r) {
  const Shape& x = r.inputs[0].shape;
  if (r.inputs[0].dtype != DType::float32)
    return Decline{"input is " + to_string(r.inputs[0].dtype)};
  if (x.rank() < 2 || x.rank() > 5) return Decline{"rank " + std::to_string(x.rank())};
  if (x.numel() == 0) return Decline{"empty tensor"};
  if (r.attributes().int_or("training_mode", 0) != 0) return Decline{"training mode"};
  for (std::size_t i = 1; i < 5; ++i) {
    if (r.constant(i) == nullptr || r.constant(i)->dtype() != DType::float32) {
      return Decline{"parameter " + std::to_string(i) + " is not a float32 constant"};
    }
  }
  for (std::size_t i = 1; i < r.outputs.size(); ++i) {
    if (r.outputs[i].dtype != DType::undefined) return Decline{"its statistics outputs are used"};
  }
  return std::nullopt;
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  const Shape& shape = r.inputs[0].shape;
  const Layout layout = shape.rank() < 3 ? Layout::plain : Layout::channels_last;
  const MemoryDesc x = describe_memory(DType::float32, shape, layout);
  using Flags = dnnl::normalization_flags;
  const auto flags = Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference, x, x,
                r.attributes().float_or("epsilon", 1e-5F), flags, make_attr());
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::batch_normalization_forward(*desc)};
  const MemoryDesc channel = plain_memory(DType::float32, {shape[1]});
  for (std::size_t i = 1; i < 5; ++i) {
    v.constants[arguments[i]] = packed(channel, r.constant(i)->raw().data(), channel);
  }
  v.inputs = {{DNNL_ARG_SRC, 0, x}};
  v.outputs = {{DNNL_ARG_DST, 0, x}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan;
  plan.kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  plan.inputs.assign(r.inputs.size(), layout);
  plan.baked = {false, true, true, true, true};
  plan.outputs.assign(r.outputs.size(), layout);
  if (r.dies[0] && r.inputs[0].layout == layout) plan.overwrites = 0;
  return plan;
}

const RegisterKernel registered{{.ops = {"BatchNormalization"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::batch_normalization_kernel
