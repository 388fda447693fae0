// Softmax along one axis (opset 13 on), float32, plain layout.
#include "kernels/onednn/engine.h"

namespace assay::kernels::softmax_kernel {
namespace {

using Desc = dnnl::softmax_forward::primitive_desc;

KernelAnswer make(const KernelRequest& r) {
  const Shape& s = r.inputs[0].shape;
  if (r.inputs[0].dtype != DType::float32)
    return Decline{"input is " + to_string(r.inputs[0].dtype)};
  if (s.numel() == 0 || s.rank() == 0 || s.rank() > 6) return Decline{"shape " + to_string(s)};
  const bool flattens = r.opset() < 13;  // softmax over everything from the axis on
  const std::int64_t axis =
      normalize_axis(r.attributes().int_or("axis", flattens ? 1 : -1), s.rank());
  const Shape seen = flattens ? Shape{s.numel(0, axis), s.numel(axis, s.rank())} : s;
  const MemoryDesc x = plain_memory(DType::float32, seen.vec());
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
                x, x, static_cast<int>(flattens ? 1 : axis), make_attr());
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::softmax_forward(*desc)};
  v.inputs = {{DNNL_ARG_SRC, 0, x}};
  v.outputs = {{DNNL_ARG_DST, 0, x}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan;
  plan.kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  plan.inputs = {Layout::plain};
  plan.outputs = {Layout::plain};
  return plan;
}

const RegisterKernel registered{{.ops = {"Softmax"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::softmax_kernel
