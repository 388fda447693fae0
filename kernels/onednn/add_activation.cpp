// AddRelu, AddClip, ... of Assay's domain: two float32 tensors of one shape added, then the
// activation.
#include "kernels/onednn/form.h"

namespace assay::kernels::add_activation_kernel {
namespace {

using Desc = dnnl::binary::primitive_desc;

KernelAnswer make(const KernelRequest& r) {
  const auto form = dot_form(r.node());
  if (!form || form->base != "Add") return Decline{"activation has no oneDNN form"};
  const Slot &a = r.inputs[0], &b = r.inputs[1];
  if (a.dtype != DType::float32 || b.dtype != DType::float32)
    return Decline{"operand is not float32"};
  if (a.shape != b.shape) return Decline{"operands have different shapes"};
  if (a.shape.numel() == 0) return Decline{"empty tensor"};
  const Layout layout = a.shape.rank() < 3 ? Layout::plain : kept_layout(r);
  const MemoryDesc flat = plain_memory(DType::float32, {a.shape.numel()});
  dnnl::post_ops ops;
  append_activation(ops, form->activation);
  auto attr = make_attr();
  attr.set_post_ops(ops);
  const auto desc = try_make(
      [&] { return Desc(cpu_engine(), dnnl::algorithm::binary_add, flat, flat, flat, attr); });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::binary(*desc)};
  v.inputs = {{DNNL_ARG_SRC_0, 0, flat}, {DNNL_ARG_SRC_1, 1, flat}};
  v.outputs = {{DNNL_ARG_DST, 0, flat}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan;
  plan.kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  plan.inputs.assign(r.inputs.size(), layout);
  plan.outputs = {layout};
  if (r.dies[0] && a.layout == layout) plan.overwrites = 0;
  return plan;
}

bool is_add_form(const std::string& type) { return type.rfind("Add", 0) == 0; }

const RegisterKernel registered{
    {.ops = {}, .make = make, .domain = assay_domain, .matches = is_add_form}};

}  // namespace
}  // namespace assay::kernels::add_activation_kernel
