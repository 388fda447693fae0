// Gemm and MatMul in float32, with the fused residual and activation.
//
// Gemm: y = act(alpha * A' B' + beta * C + residual); MatMul: batched product with NumPy
// broadcasting of the batch axes. A constant right operand is packed once. alpha and beta other
// than 1 are left to the reference.
#include "kernels/onednn/form.h"

namespace assay::kernels::matmul_kernel {
namespace {

using Desc = dnnl::matmul::primitive_desc;
using Dims = std::vector<std::int64_t>;

constexpr std::size_t residual_input = 3;

struct Operand {
  Dims dims;
  Dims strides;
  MemoryDesc desc() const { return MemoryDesc(dims, dnnl::memory::data_type::f32, strides); }
};

struct Problem {
  Operand a, b;
  Dims y;
  std::optional<Tensor> packed_b;  // constant right operand
  std::optional<Tensor> bias;      // one value per column
  std::optional<Dims> addend;      // Gemm's C when it is no constant row
  DotForm form;
  bool sum = false;
};

Operand row_major(const Dims& dims) { return {dims, Shape(dims).strides()}; }

void swap_last(Operand& o) {
  const std::size_t n = o.dims.size();
  std::swap(o.dims[n - 1], o.dims[n - 2]);
  std::swap(o.strides[n - 1], o.strides[n - 2]);
}

/// Dims with leading ones up to `rank`.
Dims padded(const Shape& s, std::size_t rank) {
  Dims dims(rank - static_cast<std::size_t>(s.rank()), 1);
  dims.insert(dims.end(), s.dims().begin(), s.dims().end());
  return dims;
}

std::optional<Decline> refuse(const KernelRequest& r, const DotForm& form) {
  for (const Slot& s : r.inputs) {
    if (s.dtype != DType::undefined && s.dtype != DType::float32)
      return Decline{"operand is " + to_string(s.dtype)};
  }
  if (r.inputs[0].shape.rank() < 2 || r.inputs[1].shape.rank() < 2)
    return Decline{"operand is a vector"};
  if (r.inputs[0].shape.rank() > 6 || r.inputs[1].shape.rank() > 6) return Decline{"rank above 6"};
  if (r.outputs[0].shape.numel() == 0 || r.inputs[0].shape.numel() == 0)
    return Decline{"empty tensor"};
  if (form.residual &&
      (!r.has_input(residual_input) || r.inputs[residual_input].shape != r.outputs[0].shape)) {
    return Decline{"residual has another shape than the output"};
  }
  return std::nullopt;
}

std::optional<Decline> read_gemm(const KernelRequest& r, Problem& p) {
  const Attributes& at = r.attributes();
  if (at.float_or("alpha", 1.0F) != 1.0F) return Decline{"alpha is not 1"};
  p.a = row_major(r.inputs[0].shape.vec());
  p.b = row_major(r.inputs[1].shape.vec());
  if (at.int_or("transA", 0) != 0) swap_last(p.a);
  if (at.int_or("transB", 0) != 0) swap_last(p.b);
  if (!r.has_input(2)) return std::nullopt;
  if (at.float_or("beta", 1.0F) != 1.0F) return Decline{"beta is not 1"};
  const Shape& c = r.inputs[2].shape;
  const bool row = c.numel() == p.y.back() && (c.rank() == 1 || c[-1] == p.y.back());
  if (row && r.constant(2) != nullptr) {
    p.bias = *r.constant(2);
  } else {
    p.addend = padded(c, 2);
  }
  return std::nullopt;
}

void read_matmul(const KernelRequest& r, Problem& p) {
  const Shape &a = r.inputs[0].shape, &b = r.inputs[1].shape;
  if (b.rank() == 2) {  // all rows of A in one product
    p.a = row_major({a.numel() / a[-1], a[-1]});
    p.b = row_major(b.vec());
    p.y = {a.numel() / a[-1], b[-1]};
    return;
  }
  const auto rank = static_cast<std::size_t>(std::max(a.rank(), b.rank()));
  p.a = row_major(padded(a, rank));
  p.b = row_major(padded(b, rank));
}

dnnl::primitive_attr attr_for(const Problem& p) {
  dnnl::post_ops ops;
  const MemoryDesc y = row_major(p.y).desc();
  if (p.addend) ops.append_binary(dnnl::algorithm::binary_add, row_major(*p.addend).desc());
  if (p.form.residual && p.sum) ops.append_sum(1.0F);
  if (p.form.residual && !p.sum) ops.append_binary(dnnl::algorithm::binary_add, y);
  append_activation(ops, p.form.activation);
  auto attr = make_attr();
  attr.set_post_ops(ops);
  return attr;
}

MemoryDesc bias_desc(const Problem& p) {
  if (!p.bias) return {};
  Dims dims(p.y.size(), 1);
  dims.back() = p.y.back();
  return plain_memory(DType::float32, dims);
}

Desc make_desc(const Problem& p) {
  const MemoryDesc b = p.packed_b ? any_memory(DType::float32, p.b.dims) : p.b.desc();
  return Desc(cpu_engine(), p.a.desc(), b, bias_desc(p), row_major(p.y).desc(), attr_for(p));
}

void add_operands(Variant& v, const Problem& p) {
  const MemoryDesc y = row_major(p.y).desc();
  int op = 0;
  const auto binary = [](int i) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1; };
  if (p.addend) v.inputs.emplace_back(binary(op++), 2, row_major(*p.addend).desc());
  if (p.form.residual && !p.sum) v.inputs.emplace_back(binary(op), residual_input, y);
  v.outputs.emplace_back(DNNL_ARG_DST, 0, y);
}

Variant variant_of(const Problem& p, const Desc& desc) {
  Variant v{.name = std::string("matmul ") + desc.impl_info_str(), .primitive = dnnl::matmul(desc)};
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, p.a.desc());
  if (p.packed_b) {
    v.constants[DNNL_ARG_WEIGHTS] =
        packed(p.b.desc(), p.packed_b->raw().data(), desc.weights_desc());
  } else {
    v.inputs.emplace_back(DNNL_ARG_WEIGHTS, 1, p.b.desc());
  }
  if (p.bias) v.constants[DNNL_ARG_BIAS] = packed(bias_desc(p), p.bias->raw().data(), bias_desc(p));
  add_operands(v, p);
  v.scratchpad = desc.scratchpad_desc();
  return v;
}

/// y = x W' + b as an inner product, which packs weights differently: better for few rows.
std::optional<Variant> as_inner_product(const Problem& p) {
  const bool simple = p.packed_b && p.y.size() == 2 && !p.addend && p.a.strides[1] == 1;
  if (!simple) return std::nullopt;
  const std::int64_t columns = p.y[1];
  const MemoryDesc x = p.a.desc(), y = row_major(p.y).desc();
  const MemoryDesc w = any_memory(DType::float32, {columns, p.a.dims[1]});
  const MemoryDesc b = p.bias ? plain_memory(DType::float32, {columns}) : MemoryDesc();
  using Inner = dnnl::inner_product_forward::primitive_desc;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto desc = try_make([&] { return Inner(cpu_engine(), kind, x, w, b, y, attr_for(p)); });
  if (!desc) return std::nullopt;
  Variant v{.name = std::string("inner_product ") + desc->impl_info_str(),
            .primitive = dnnl::inner_product_forward(*desc)};
  Operand turned = p.b;
  swap_last(turned);
  v.constants[DNNL_ARG_WEIGHTS] =
      packed(turned.desc(), p.packed_b->raw().data(), desc->weights_desc());
  if (p.bias) v.constants[DNNL_ARG_BIAS] = packed(b, p.bias->raw().data(), b);
  v.inputs.emplace_back(DNNL_ARG_SRC, 0, x);
  add_operands(v, p);
  v.scratchpad = desc->scratchpad_desc();
  return v;
}

std::vector<Variant> other_variants(const Problem& p) {
  std::vector<Variant> list;
  if (auto v = as_inner_product(p)) list.push_back(std::move(*v));
  return list;
}

KernelAnswer make(const KernelRequest& r) {
  const auto form = dot_form(r.node());
  if (!form) return Decline{"activation has no oneDNN form"};
  if (auto d = refuse(r, *form)) return *d;
  Problem p;
  p.form = *form;
  p.y = r.outputs[0].shape.vec();
  if (form->base == "Gemm") {
    if (auto d = read_gemm(r, p)) return *d;
  } else {
    read_matmul(r, p);
  }
  if (r.constant(1) != nullptr) p.packed_b = *r.constant(1);
  p.sum = form->residual && !p.addend && r.dies[residual_input] &&
          r.inputs[residual_input].layout == Layout::plain;
  const auto desc = try_make([&] { return make_desc(p); });
  if (!desc) return no_implementation(r);
  KernelPlan plan;
  plan.kernel =
      std::make_unique<PrimitiveKernel>(variant_of(p, *desc), [p] { return other_variants(p); });
  plan.inputs.assign(r.inputs.size(), Layout::plain);
  plan.baked.assign(r.inputs.size(), false);
  plan.baked[1] = p.packed_b.has_value();
  if (r.inputs.size() > 2) plan.baked[2] = p.bias.has_value();
  plan.outputs = {Layout::plain};
  if (p.sum) plan.overwrites = residual_input;
  return plan;
}

bool is_fused_product(const std::string& type) {
  return type.rfind("Gemm", 0) == 0 || type.rfind("MatMul", 0) == 0;
}

const RegisterKernel plain{{.ops = {"Gemm", "MatMul"}, .make = make}};
const RegisterKernel fused{
    {.ops = {}, .make = make, .domain = assay_domain, .matches = is_fused_product}};

}  // namespace
}  // namespace assay::kernels::matmul_kernel
