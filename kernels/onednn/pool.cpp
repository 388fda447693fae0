// Max and average pooling, windowed and global, float32, channels-last.
#include <algorithm>

#include "kernels/onednn/engine.h"
#include "kernels/onednn/window.h"

namespace assay::kernels::pool_kernel {
namespace {

using Desc = dnnl::pooling_forward::primitive_desc;

bool is_global(const KernelRequest& r) { return r.node().op_type.rfind("Global", 0) == 0; }

Window geometry(const KernelRequest& r) {
  const Shape& x = r.inputs[0].shape;
  if (is_global(r))
    return window_of(Attributes{}, {x.vec().begin() + 2, x.vec().end()}, x, r.outputs[0].shape);
  return window_of(r.attributes(), r.attributes().required_ints("kernel_shape"), x,
                   r.outputs[0].shape);
}

std::optional<Decline> refuse(const KernelRequest& r) {
  const Shape& x = r.inputs[0].shape;
  if (r.inputs[0].dtype != DType::float32)
    return Decline{"input is " + to_string(r.inputs[0].dtype)};
  if (x.rank() < 3 || x.rank() > 5) return Decline{"pool of rank " + std::to_string(x.rank())};
  if (x.numel() == 0 || r.outputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  for (std::size_t i = 1; i < r.outputs.size(); ++i) {
    if (r.outputs[i].dtype != DType::undefined) return Decline{"its index output is used"};
  }
  return std::nullopt;
}

std::optional<dnnl::algorithm> algorithm_of(const KernelRequest& r) {
  if (r.node().op_type.find("Max") != std::string::npos) return dnnl::algorithm::pooling_max;
  if (is_global(r) || r.attributes().int_or("count_include_pad", 0) == 0) {
    return dnnl::algorithm::pooling_avg_exclude_padding;
  }
  // With ceil_mode ONNX does not count what lies beyond the stated padding, oneDNN would.
  if (r.attributes().int_or("ceil_mode", 0) != 0) return std::nullopt;
  return dnnl::algorithm::pooling_avg_include_padding;
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  const auto algorithm = algorithm_of(r);
  if (!algorithm) return Decline{"average over padding with ceil_mode"};
  const Window w = geometry(r);
  const Shape& x = r.inputs[0].shape;
  const MemoryDesc source = describe_memory(DType::float32, x, Layout::channels_last);
  const MemoryDesc target =
      describe_memory(DType::float32, r.outputs[0].shape, Layout::channels_last);
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference, *algorithm, source, target,
                w.strides, w.kernel, w.dilations, w.pads_begin, w.pads_end, make_attr());
  });
  if (!desc) return no_implementation(r);
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::pooling_forward(*desc)};
  v.inputs = {{DNNL_ARG_SRC, 0, source}};
  v.outputs = {{DNNL_ARG_DST, 0, target}};
  v.scratchpad = desc->scratchpad_desc();
  KernelPlan plan;
  plan.kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  plan.inputs = {Layout::channels_last};
  plan.outputs.assign(r.outputs.size(), Layout::channels_last);
  return plan;
}

const RegisterKernel registered{
    {.ops = {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::pool_kernel
