// QMaxPool: the largest code of each window, codes and scale passed through.
#include "kernels/onednn/engine.h"
#include "kernels/onednn/window.h"

namespace assay::kernels::qpool_kernel {
namespace {

using Desc = dnnl::pooling_forward::primitive_desc;

std::optional<Decline> refuse(const KernelRequest& r) {
  const Slot& x = r.inputs[0];
  if (x.dtype != DType::uint8 && x.dtype != DType::int8)
    return Decline{"codes are " + to_string(x.dtype)};
  if (x.dtype != r.outputs[0].dtype) return Decline{"it changes the code type"};
  if (x.shape.rank() < 3 || x.shape.rank() > 5)
    return Decline{"pool of rank " + std::to_string(x.shape.rank())};
  if (x.shape.numel() == 0 || r.outputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  for (std::size_t i = 1; i < r.outputs.size(); ++i) {
    if (r.outputs[i].dtype != DType::undefined) return Decline{"its index output is used"};
  }
  const Attributes& a = r.attributes();
  const bool rescales =
      a.float_or("x_scale", 1.0F) != a.float_or("y_scale", a.float_or("x_scale", 1.0F)) ||
      a.int_or("x_zero_point", 0) != a.int_or("y_zero_point", a.int_or("x_zero_point", 0));
  if (rescales) return Decline{"it changes scale or zero point"};
  return std::nullopt;
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  const Slot& x = r.inputs[0];
  const Window w = window_of(r.attributes(), r.attributes().required_ints("kernel_shape"), x.shape,
                             r.outputs[0].shape);
  const MemoryDesc source = describe_memory(x.dtype, x.shape, Layout::channels_last);
  const MemoryDesc target = describe_memory(x.dtype, r.outputs[0].shape, Layout::channels_last);
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max,
                source, target, w.strides, w.kernel, w.dilations, w.pads_begin, w.pads_end,
                make_attr());
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::pooling_forward(*desc)};
  v.inputs = {{DNNL_ARG_SRC, 0, source}};
  v.outputs = {{DNNL_ARG_DST, 0, target}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan;
  plan.kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  plan.inputs.assign(r.inputs.size(), Layout::channels_last);
  plan.outputs.assign(r.outputs.size(), Layout::channels_last);
  return plan;
}

const RegisterKernel own{{.ops = {"QMaxPool"}, .make = make, .domain = assay_domain}};
// On codes a plain MaxPool is the same operation.
const RegisterKernel plain{{.ops = {"MaxPool"}, .make = make, .rank = 1}};

}  // namespace
}  // namespace assay::kernels::qpool_kernel
