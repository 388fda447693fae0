// Convolution in float32: bias, residual and activation in one primitive, channels-last, weights
// packed once.
//
// y = tail(act(conv(x, w) + b + residual)). The residual is a `sum` in place when its buffer dies
// here, else a binary addition, so a skip tensor that is read later stays intact. A 1x1 convolution
// of stride 1 is also offered as a matrix product.
#include "kernels/onednn/conv.h"

namespace assay::kernels::conv_kernel {
namespace {

using Desc = dnnl::convolution_forward::primitive_desc;
using Dims = dnnl::memory::dims;

bool has_bias(const ConvProblem& p) { return p.b.defined(); }

Dims weight_dims(const ConvProblem& p) {
  Dims dims = p.w.shape().vec();
  if (p.group == 1) return dims;
  dims[0] /= p.group;
  dims.insert(dims.begin(), p.group);
  return dims;
}

dnnl::primitive_attr attr_for(const ConvProblem& p, const MemoryDesc& residual) {
  dnnl::post_ops ops;
  if (p.form.residual && p.sum) ops.append_sum(1.0F);
  if (p.form.residual && !p.sum) ops.append_binary(dnnl::algorithm::binary_add, residual);
  append_activation(ops, p.form.activation);
  for (const Eltwise& e : p.tail) append_activation(ops, e);
  auto attr = make_attr();
  attr.set_post_ops(ops);
  return attr;
}

Desc make_desc(const ConvProblem& p) {
  const MemoryDesc x = describe_memory(p.x), y = describe_memory(p.y);
  const MemoryDesc w = any_memory(DType::float32, weight_dims(p));
  const auto attr = attr_for(p, y);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const Window& v = p.window;
  if (!has_bias(p)) {
    return Desc(cpu_engine(), kind, algorithm, x, w, y, v.strides, v.dilations, v.pads_begin,
                v.pads_end, attr);
  }
  const MemoryDesc b = plain_memory(DType::float32, {p.b.numel()});
  return Desc(cpu_engine(), kind, algorithm, x, w, b, y, v.strides, v.dilations, v.pads_begin,
              v.pads_end, attr);
}

void add_residual(Variant& v, const ConvProblem& p, const MemoryDesc& desc) {
  if (!p.form.residual || p.sum) return;
  v.inputs.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, residual_input, desc);
}

Variant variant_of(const ConvProblem& p, const Desc& desc) {
  Variant v{.name = desc.impl_info_str(), .primitive = dnnl::convolution_forward(desc)};
  v.constants[DNNL_ARG_WEIGHTS] =
      packed(plain_memory(DType::float32, weight_dims(p)), p.w.raw().data(), desc.weights_desc());
  if (has_bias(p)) {
    const auto bias = plain_memory(DType::float32, {p.b.numel()});
    v.constants[DNNL_ARG_BIAS] = packed(bias, p.b.raw().data(), bias);
  }
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, desc.src_desc());
  add_residual(v, p, describe_memory(p.y));
  v.outputs.emplace_back(DNNL_ARG_DST, 0, desc.dst_desc());
  v.scratchpad = desc.scratchpad_desc();
  return v;
}

std::optional<Variant> as_matmul(const ConvProblem& p) {
  if (p.group != 1 || !p.window.pointwise()) return std::nullopt;
  const std::int64_t rows = p.x.shape.numel() / p.x.shape[1];
  const std::int64_t inner = p.x.shape[1], columns = p.y.shape[1];
  const MemoryDesc x = plain_memory(DType::float32, {rows, inner});
  const MemoryDesc y = plain_memory(DType::float32, {rows, columns});
  const MemoryDesc w = any_memory(DType::float32, {inner, columns});
  const MemoryDesc b = has_bias(p) ? plain_memory(DType::float32, {1, columns}) : MemoryDesc();
  const auto attr = attr_for(p, y);
  using Matmul = dnnl::matmul::primitive_desc;
  const auto desc = try_make([&] {
    return has_bias(p) ? Matmul(cpu_engine(), x, w, b, y, attr)
                       : Matmul(cpu_engine(), x, w, y, attr);
  });
  if (!desc) return std::nullopt;
  Variant v{.name = std::string("matmul ") + desc->impl_info_str(),
            .primitive = dnnl::matmul(*desc)};
  const MemoryDesc transposed({inner, columns}, dnnl::memory::data_type::f32, Dims{1, inner});
  v.constants[DNNL_ARG_WEIGHTS] = packed(transposed, p.w.raw().data(), desc->weights_desc());
  if (has_bias(p)) v.constants[DNNL_ARG_BIAS] = packed(b, p.b.raw().data(), b);
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, x);
  add_residual(v, p, y);
  v.outputs.emplace_back(DNNL_ARG_DST, 0, y);
  v.scratchpad = desc->scratchpad_desc();
  return v;
}

std::vector<Variant> other_variants(const ConvProblem& p) {
  std::vector<Variant> list;
  bool first = true;
  for_each_implementation(make_desc(p), [&](const Desc& desc) {
    if (!first) list.push_back(variant_of(p, desc));
    first = false;
    return list.size() < 3;
  });
  if (auto v = as_matmul(p)) list.push_back(std::move(*v));
  return list;
}

std::optional<Decline> refuse(const KernelRequest& r, const DotForm& form) {
  const std::int64_t rank = r.inputs[0].shape.rank();
  if (rank < 3 || rank > 5) return Decline{"convolution of rank " + std::to_string(rank)};
  if (auto d = refuse_operands(r)) return d;
  if (form.residual && (!r.has_input(3) || r.inputs[3].shape != r.outputs[0].shape)) {
    return Decline{"residual has another shape than the output"};
  }
  if (r.inputs[0].shape.numel() == 0 || r.outputs[0].shape.numel() == 0)
    return Decline{"empty tensor"};
  return std::nullopt;
}

ConvProblem problem_of(const KernelRequest& r, const DotForm& form) {
  ConvProblem p{.x = r.inputs[0],
                .y = r.outputs[0],
                .w = *r.constant(1),
                .b = {},
                .window = {},
                .form = form};
  p.x.layout = p.y.layout = Layout::channels_last;
  if (r.has_input(2)) p.b = *r.constant(2);
  p.group = r.attributes().int_or("group", 1);
  const auto& dims = p.w.shape().vec();
  p.window = window_of(r.attributes(), {dims.begin() + 2, dims.end()}, p.x.shape, p.y.shape);
  p.sum = form.residual && r.dies[residual_input] &&
          r.inputs[residual_input].layout == Layout::channels_last;
  p.tail = eltwise_tail(r.tail);
  return p;
}

KernelAnswer make(const KernelRequest& r) {
  const auto problem = conv_problem(r);
  if (const auto* why = std::get_if<Decline>(&problem)) return *why;
  const ConvProblem& p = std::get<ConvProblem>(problem);
  auto first = default_conv(p);
  if (!first) return no_implementation(r);
  KernelPlan plan;
  plan.kernel =
      std::make_unique<PrimitiveKernel>(*std::move(first), [p] { return other_variants(p); });
  plan.inputs.assign(r.inputs.size(), Layout::channels_last);
  plan.baked.assign(r.inputs.size(), false);
  plan.baked[1] = true;
  if (r.inputs.size() > 2) plan.baked[2] = true;
  plan.outputs = {Layout::channels_last};
  if (p.sum) plan.overwrites = residual_input;
  return plan;
}

bool is_fused_conv(const std::string& type) {
  return type.rfind("Conv", 0) == 0 && type.rfind("ConvTranspose", 0) != 0;
}

const RegisterKernel plain{{.ops = {"Conv"}, .make = make, .takes_tail = true}};
const RegisterKernel fused{{.ops = {},
                            .make = make,
                            .domain = assay_domain,
                            .takes_tail = true,
                            .matches = is_fused_conv}};

}  // namespace
}  // namespace assay::kernels::conv_kernel

namespace assay::kernels {

std::variant<ConvProblem, Decline> conv_problem(const KernelRequest& request) {
  const auto form = dot_form(request.node());
  if (!form || form->base != "Conv") return Decline{"activation has no oneDNN form"};
  if (auto d = conv_kernel::refuse(request, *form)) return *d;
  return conv_kernel::problem_of(request, *form);
}

std::optional<Variant> default_conv(const ConvProblem& problem) {
  const auto desc = try_make([&] { return conv_kernel::make_desc(problem); });
  if (!desc) return std::nullopt;
  return conv_kernel::variant_of(problem, *desc);
}

}  // namespace assay::kernels
