// ReduceMean, ReduceSum, ReduceMax, ReduceMin in float32. The mean over all spatial axes of a
// channels-last tensor is a global pool.
#include <algorithm>

#include "kernels/onednn/engine.h"

namespace assay::kernels::reduce_kernel {
namespace {

std::optional<std::vector<std::int64_t>> axes_of(const KernelRequest& r) {
  std::vector<std::int64_t> axes;
  if (r.has_input(1)) {
    if (r.constant(1) == nullptr) return std::nullopt;
    axes = to_ints(*r.constant(1));
  } else {
    axes = r.attributes().ints_or("axes", {});
  }
  const std::int64_t rank = r.inputs[0].shape.rank();
  if (axes.empty()) {
    if (r.attributes().int_or("noop_with_empty_axes", 0) != 0) return std::nullopt;
    for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

dnnl::algorithm algorithm_of(const std::string& op) {
  if (op == "ReduceMean") return dnnl::algorithm::reduction_mean;
  if (op == "ReduceSum") return dnnl::algorithm::reduction_sum;
  return op == "ReduceMax" ? dnnl::algorithm::reduction_max : dnnl::algorithm::reduction_min;
}

bool all_spatial(const std::vector<std::int64_t>& axes, std::int64_t rank) {
  return rank > 2 && static_cast<std::int64_t>(axes.size()) == rank - 2 && axes.front() == 2;
}

template <class Primitive, class Desc>
KernelPlan plan_of(const KernelRequest& r, const Desc& desc, Layout in) {
  Variant v{.name = desc.impl_info_str(), .primitive = Primitive(desc)};
  v.inputs = {{DNNL_ARG_SRC, 0, desc.src_desc()}};
  v.outputs = {{DNNL_ARG_DST, 0, desc.dst_desc()}};
  v.scratchpad = desc.scratchpad_desc();
  return reads_first_input(r, std::make_unique<PrimitiveKernel>(std::move(v)), in, Layout::plain);
}

KernelAnswer as_pool(const KernelRequest& r) {
  using Desc = dnnl::pooling_forward::primitive_desc;
  const Shape& x = r.inputs[0].shape;
  Shape y = x;
  for (std::int64_t i = 2; i < x.rank(); ++i) y[i] = 1;
  const std::vector<std::int64_t> kernel(x.dims().begin() + 2, x.dims().end());
  const std::vector<std::int64_t> ones(kernel.size(), 1), zeros(kernel.size(), 0);
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), dnnl::prop_kind::forward_inference,
                dnnl::algorithm::pooling_avg_exclude_padding,
                describe_memory(DType::float32, x, Layout::channels_last),
                describe_memory(DType::float32, y, Layout::channels_last), ones, kernel, zeros,
                zeros, zeros, make_attr());
  });
  if (!desc) return no_implementation(r);
  return plan_of<dnnl::pooling_forward>(r, *desc, Layout::channels_last);
}

KernelAnswer make(const KernelRequest& r) {
  using Desc = dnnl::reduction::primitive_desc;
  const Slot& x = r.inputs[0];
  if (x.dtype != DType::float32) return Decline{"input is " + to_string(x.dtype)};
  if (x.shape.numel() == 0 || x.shape.rank() == 0 || x.shape.rank() > 6)
    return Decline{"shape " + to_string(x.shape)};
  const auto axes = axes_of(r);
  if (!axes) return Decline{"axes are not constant"};
  const bool pool =
      r.node().op_type == "ReduceMean" && x.shape.rank() <= 5 && all_spatial(*axes, x.shape.rank());
  if (pool && x.layout == Layout::channels_last) return as_pool(r);
  std::vector<std::int64_t> kept = x.shape.vec();
  for (const std::int64_t a : *axes) kept[static_cast<std::size_t>(a)] = 1;
  if (kept == x.shape.vec()) return Decline{"nothing to reduce"};
  const auto desc = try_make([&] {
    return Desc(cpu_engine(), algorithm_of(r.node().op_type),
                plain_memory(DType::float32, x.shape.vec()), plain_memory(DType::float32, kept),
                0.0F, 0.0F, make_attr());
  });
  if (!desc) return no_implementation(r);
  return plan_of<dnnl::reduction>(r, *desc, Layout::plain);
}

const RegisterKernel registered{
    {.ops = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::reduce_kernel
