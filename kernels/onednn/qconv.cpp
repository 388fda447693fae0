// QConv: integer convolution with scales, bias, residual, activation and requantization in one
// primitive. The arithmetic is that of kernels/arithmetic.h; which variant of it runs is recorded
// per step, and tuning chooses only among kernels of one variant.
#include "kernels/isa.h"
#include "kernels/onednn/int_form.h"
#include "kernels/onednn/window.h"

namespace assay::kernels::qconv_kernel {
namespace {

using Desc = dnnl::convolution_forward::primitive_desc;
using Dims = dnnl::memory::dims;

struct Problem {
  Slot x, y;
  Tensor w, b;  // b undefined when there is none
  std::int64_t group = 1;
  Window window;
  IntForm form;
  bool depthwise() const { return group > 1 && group == x.shape[1] && group == y.shape[1]; }
};

Dims weight_dims(const Problem& p) {
  Dims dims = p.w.shape().vec();
  if (p.group == 1) return dims;
  dims[0] /= p.group;
  dims.insert(dims.begin(), p.group);
  return dims;
}

struct Quantized {
  dnnl::primitive_attr attr = make_attr();
  std::map<int, dnnl::memory> constants = {};
};

Quantized quantization_of(const Problem& p, int weight_mask) {
  Quantized q;
  q.attr.set_post_ops(int_post_ops(p.form));
  add_quantization(p.form, weight_mask, q.attr, q.constants);
  if (p.b.defined()) {
    q.constants[DNNL_ARG_BIAS] =
        vector_memory({p.b.data<float>().begin(), p.b.data<float>().end()});
  }
  return q;
}

int weight_mask(const Problem& p) { return p.group == 1 ? 1 : 3; }

Desc make_desc(const Problem& p, const dnnl::primitive_attr& attr) {
  const MemoryDesc x = describe_memory(p.x), y = describe_memory(p.y);
  const MemoryDesc w = any_memory(DType::int8, weight_dims(p));
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const Window& v = p.window;
  const MemoryDesc b = p.b.defined() ? plain_memory(DType::float32, {p.b.numel()}) : MemoryDesc();
  return Desc(cpu_engine(), kind, algorithm, x, w, b, y, v.strides, v.dilations, v.pads_begin,
              v.pads_end, attr);
}

Variant variant_of(const Problem& p, const Desc& desc) {
  Variant v{.name = desc.impl_info_str(), .primitive = dnnl::convolution_forward(desc)};
  v.constants = quantization_of(p, weight_mask(p)).constants;
  v.constants[DNNL_ARG_WEIGHTS] =
      packed(plain_memory(DType::int8, weight_dims(p)), p.w.raw().data(), desc.weights_desc());
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, desc.src_desc());
  v.outputs.emplace_back(DNNL_ARG_DST, 0, desc.dst_desc());
  v.scratchpad = desc.scratchpad_desc();
  return v;
}

/// Only where 8-bit products are exact: below that, conv and matmul differ in how pairs and s8
/// sources are treated.
std::optional<Variant> as_matmul(const Problem& p) {
  if (p.group != 1 || !p.window.pointwise() || !isa_has_vnni()) return std::nullopt;
  const std::int64_t inner = p.x.shape[1], columns = p.y.shape[1];
  const std::int64_t rows = p.x.shape.numel() / inner;
  const MemoryDesc x = plain_memory(p.x.dtype, {rows, inner}),
                   y = plain_memory(p.y.dtype, {rows, columns});
  const MemoryDesc w = any_memory(DType::int8, {inner, columns});
  const MemoryDesc b = p.b.defined() ? plain_memory(DType::float32, {1, columns}) : MemoryDesc();
  Quantized q = quantization_of(p, 2);
  using Matmul = dnnl::matmul::primitive_desc;
  const auto desc = try_make([&] { return Matmul(cpu_engine(), x, w, b, y, q.attr); });
  if (!desc) return std::nullopt;
  Variant v{.name = std::string("matmul ") + desc->impl_info_str(),
            .primitive = dnnl::matmul(*desc)};
  v.constants = std::move(q.constants);
  if (p.b.defined()) v.constants[DNNL_ARG_BIAS] = packed(b, p.b.raw().data(), b);
  const MemoryDesc transposed({inner, columns}, dnnl::memory::data_type::s8, Dims{1, inner});
  v.constants[DNNL_ARG_WEIGHTS] = packed(transposed, p.w.raw().data(), desc->weights_desc());
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, x);
  v.outputs.emplace_back(DNNL_ARG_DST, 0, y);
  v.scratchpad = desc->scratchpad_desc();
  return v;
}

std::vector<Variant> other_variants(const Problem& p, const std::string& chosen) {
  const IntArithmetic wanted = arithmetic_of(p.form, chosen, p.depthwise());
  std::vector<Variant> list;
  bool first = true;
  for_each_implementation(
      make_desc(p, quantization_of(p, weight_mask(p)).attr), [&](const Desc& desc) {
        const std::string name = desc.impl_info_str();
        // oneDNN's GEMM-based convolution and the SSE4.1 kernels round differently in ways that no
        // class here describes.
        const bool described = name.find("gemm") == std::string::npos && !name.ends_with(":sse41");
        const bool same = described && arithmetic_of(p.form, name, p.depthwise()) == wanted;
        if (!first && same) list.push_back(variant_of(p, desc));
        first = false;
        return list.size() < 4;
      });
  if (auto v = as_matmul(p)) {
    if (arithmetic_of(p.form, v->name, false) == wanted) list.push_back(std::move(*v));
  }
  return list;
}

Problem problem_of(const KernelRequest& r, IntForm form) {
  Problem p{.x = r.inputs[0],
            .y = r.outputs[0],
            .w = *r.constant(1),
            .b = {},
            .window = {},
            .form = std::move(form)};
  p.x.layout = p.y.layout = Layout::channels_last;
  if (r.has_input(2)) p.b = *r.constant(2);
  p.group = r.attributes().int_or("group", 1);
  const auto& dims = p.w.shape().vec();
  p.window = window_of(r.attributes(), {dims.begin() + 2, dims.end()}, p.x.shape, p.y.shape);
  return p;
}

/// oneDNN 3.2's jit_1x1:avx512_core_amx stores whole blocks of 16 pixels for some sizes (6x6 is
/// one): up to 15 pixels behind the end of the output are overwritten.
std::int64_t overrun_of(const Problem& p) {
  if (!p.window.pointwise() || !isa_has_amx()) return 0;
  return 15 * p.y.shape[1] * size_of(p.y.dtype);
}

KernelAnswer make(const KernelRequest& r) {
  const std::int64_t rank = r.inputs[0].shape.rank();
  if (rank < 3 || rank > 5) return Decline{"convolution of rank " + std::to_string(rank)};
  if (r.inputs[0].shape.numel() == 0 || r.outputs[0].shape.numel() == 0)
    return Decline{"empty tensor"};
  auto form = int_form(r);
  if (auto* d = std::get_if<Decline>(&form)) return *d;
  const Problem p = problem_of(r, std::get<IntForm>(std::move(form)));
  const auto desc = try_make([&] { return make_desc(p, quantization_of(p, weight_mask(p)).attr); });
  if (!desc) return no_implementation(r);
  const std::string name = desc->impl_info_str();
  auto kernel = std::make_unique<PrimitiveKernel>(variant_of(p, *desc),
                                                  [p, name] { return other_variants(p, name); });
  kernel->set_arithmetic(arithmetic_of(p.form, name, p.depthwise()));
  KernelPlan plan;
  plan.inputs.assign(r.inputs.size(), Layout::channels_last);
  plan.baked.assign(r.inputs.size(), false);
  for (std::size_t i = 1; i < std::min<std::size_t>(3, r.inputs.size()); ++i) plan.baked[i] = true;
  plan.outputs = {Layout::channels_last};
  plan.overrun = overrun_of(p);
  plan_residual(r, p.form, p.y.shape.numel(), *kernel, plan);
  plan.kernel = std::move(kernel);
  return plan;
}

const RegisterKernel registered{{.ops = {"QConv"}, .make = make, .domain = assay_domain}};

}  // namespace
}  // namespace assay::kernels::qconv_kernel
