// ConvTranspose in float32 with bias and activation: oneDNN's deconvolution, channels-last.
#include "kernels/onednn/transposed.h"
#include "kernels/onednn/window.h"

namespace assay::kernels::conv_transpose_kernel {
namespace {

using Desc = dnnl::deconvolution_forward::primitive_desc;
using Dims = dnnl::memory::dims;

/// ONNX weights are [I, O/g, k...]; oneDNN wants [g, O/g, I/g, k...] or [O, I, k...], any strides.
MemoryDesc stored_weights(const Tensor& w, std::int64_t group) {
  Dims dims = w.shape().vec(), strides = w.shape().strides();
  std::swap(dims[0], dims[1]);
  std::swap(strides[0], strides[1]);
  if (group > 1) {
    dims[1] /= group;
    const std::int64_t group_stride = dims[1] * strides[1];
    dims.insert(dims.begin(), group);
    strides.insert(strides.begin(), group_stride);
  }
  return MemoryDesc(dims, dnnl::memory::data_type::f32, strides);
}

KernelAnswer make(const KernelRequest& r) {
  const auto answer = transposed_form(r);
  if (const auto* d = std::get_if<Decline>(&answer)) return *d;
  const DotForm& form = std::get<DotForm>(answer);
  const Tensor& w = *r.constant(1);
  const MemoryDesc x = describe_memory(DType::float32, r.inputs[0].shape, Layout::channels_last);
  const MemoryDesc y = describe_memory(DType::float32, r.outputs[0].shape, Layout::channels_last);
  const MemoryDesc stored = stored_weights(w, r.attributes().int_or("group", 1));
  const MemoryDesc b =
      r.has_input(2) ? plain_memory(DType::float32, {r.constant(2)->numel()}) : MemoryDesc();
  const auto& dims = w.shape().vec();
  const Window g = window_of(r.attributes(), {dims.begin() + 2, dims.end()}, r.inputs[0].shape,
                             r.outputs[0].shape, true);
  dnnl::post_ops ops;
  append_activation(ops, form.activation);
  auto attr = make_attr();
  attr.set_post_ops(ops);
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference,
                dnnl::algorithm::deconvolution_direct, x,
                any_memory(DType::float32, stored.get_dims()), b, y, g.strides, g.dilations,
                g.pads_begin, g.pads_end, attr);
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::deconvolution_forward(*desc)};
  v.constants[DNNL_ARG_WEIGHTS] = packed(stored, w.raw().data(), desc->weights_desc());
  if (r.has_input(2)) v.constants[DNNL_ARG_BIAS] = packed(b, r.constant(2)->raw().data(), b);
  v.inputs = {{DNNL_ARG_SRC, 0, x}};
  v.outputs = {{DNNL_ARG_DST, 0, y}};
  v.scratchpad = desc->scratchpad_desc();
  return reads_first_input(r, std::make_unique<PrimitiveKernel>(std::move(v)),
                           Layout::channels_last, Layout::channels_last);
}

const RegisterKernel plain{{.ops = {"ConvTranspose"}, .make = make}};
const RegisterKernel fused{
    {.ops = {}, .make = make, .domain = assay_domain, .matches = is_fused_transposed}};

}  // namespace
}  // namespace assay::kernels::conv_transpose_kernel

namespace assay::kernels {

bool is_fused_transposed(const std::string& op_type) {
  return op_type.rfind("ConvTranspose", 0) == 0;
}

std::variant<DotForm, Decline> transposed_form(const KernelRequest& r) {
  const auto form = dot_form(r.node());
  if (!form || form->base != "ConvTranspose") return Decline{"activation has no oneDNN form"};
  const std::int64_t rank = r.inputs[0].shape.rank();
  if (rank < 3 || rank > 5) return Decline{"rank " + std::to_string(rank)};
  if (auto d = refuse_operands(r)) return *d;
  if (form->residual) return Decline{"a residual after ConvTranspose"};
  if (r.inputs[0].shape.numel() == 0 || r.outputs[0].shape.numel() == 0)
    return Decline{"empty tensor"};
  return *form;
}

}  // namespace assay::kernels
