// QGemm: y = requantize(x W' + b) on codes; x [M, K], w [N, K] (transB = 1) or [K, N]. Always a
// matmul primitive: inner product has no zero points. The arithmetic is that of
// kernels/arithmetic.h.
#include "kernels/onednn/int_form.h"

namespace assay::kernels::qmatmul_kernel {
namespace {

using Desc = dnnl::matmul::primitive_desc;
using Dims = dnnl::memory::dims;

KernelAnswer make(const KernelRequest& r) {
  if (r.inputs[0].shape.rank() != 2 || r.inputs[1].shape.rank() != 2)
    return Decline{"operands are not matrices"};
  if (r.inputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  if (r.attributes().int_or("transA", 0) != 0) return Decline{"transposed left operand"};
  auto answer = int_form(r);
  if (auto* d = std::get_if<Decline>(&answer)) return *d;
  const IntForm form = std::get<IntForm>(std::move(answer));
  const std::int64_t rows = r.inputs[0].shape[0], inner = r.inputs[0].shape[1],
                     columns = r.outputs[0].shape[1];
  const MemoryDesc x = plain_memory(form.x.dtype, {rows, inner}),
                   y = plain_memory(form.y.dtype, {rows, columns});
  const MemoryDesc w = any_memory(DType::int8, {inner, columns});
  const MemoryDesc b = r.has_input(2) ? plain_memory(DType::float32, {1, columns}) : MemoryDesc();
  auto attr = make_attr();
  attr.set_post_ops(int_post_ops(form));
  std::map<int, dnnl::memory> constants;
  add_quantization(form, 2, attr, constants);
  const auto desc = try_make([&] { return Desc(cpu_engine(), x, w, b, y, attr); });
  if (!desc) return no_implementation(r);
  Variant v{.name = std::string("matmul ") + desc->impl_info_str(),
            .primitive = dnnl::matmul(*desc)};
  v.constants = std::move(constants);
  const bool turned = r.attributes().int_or("transB", 1) != 0;
  const MemoryDesc stored({inner, columns}, dnnl::memory::data_type::s8,
                          turned ? Dims{1, inner} : Dims{columns, 1});
  v.constants[DNNL_ARG_WEIGHTS] = packed(stored, r.constant(1)->raw().data(), desc->weights_desc());
  if (r.has_input(2)) v.constants[DNNL_ARG_BIAS] = packed(b, r.constant(2)->raw().data(), b);
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, x);
  v.outputs.emplace_back(DNNL_ARG_DST, 0, y);
  v.scratchpad = desc->scratchpad_desc();
  auto kernel = std::make_unique<PrimitiveKernel>(std::move(v));
  kernel->set_arithmetic(arithmetic_of(form, kernel->implementation(), false));
  KernelPlan plan;
  plan.inputs.assign(r.inputs.size(), Layout::plain);
  plan.baked.assign(r.inputs.size(), false);
  for (std::size_t i = 1; i < std::min<std::size_t>(3, r.inputs.size()); ++i) plan.baked[i] = true;
  plan.outputs = {Layout::plain};
  plan_residual(r, form, rows * columns, *kernel, plan);
  plan.kernel = std::move(kernel);
  return plan;
}

const RegisterKernel registered{{.ops = {"QGemm"}, .make = make, .domain = assay_domain}};

}  // namespace
}  // namespace assay::kernels::qmatmul_kernel
