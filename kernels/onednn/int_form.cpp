#include "kernels/onednn/int_form.h"

#include <cmath>
#include <cstring>

#include "kernels/isa.h"
#include "kernels/native/dequantize.h"

namespace assay::kernels {
namespace {

/// The code that the output stage gives to `v`: clamp(v * f32(1 / s) + z), rounded half to even.
float output_code(float v, const Codes& y) {
  const float scaled = v * (1.0F / y.scale);
  const float shifted = scaled + static_cast<float>(y.zero_point);
  return std::nearbyint(std::fmin(std::fmax(shifted, y.low()), y.high()));
}

bool is_code_type(DType t) { return t == DType::uint8 || t == DType::int8; }

std::optional<Decline> check_operands(const KernelRequest& r) {
  if (!is_code_type(r.inputs[0].dtype))
    return Decline{"source codes are " + to_string(r.inputs[0].dtype)};
  if (r.constant(1) == nullptr || r.constant(1)->dtype() != DType::int8) {
    return Decline{"weight codes are not an int8 constant"};
  }
  if (r.has_input(2) && (r.constant(2) == nullptr || r.constant(2)->dtype() != DType::float32)) {
    return Decline{"bias is not a float32 constant"};
  }
  const DType y = r.outputs[0].dtype;
  if (!is_code_type(y) && y != DType::float32) return Decline{"output is " + to_string(y)};
  if (!r.has_input(3)) return std::nullopt;
  if (!is_code_type(r.inputs[3].dtype))
    return Decline{"residual is " + to_string(r.inputs[3].dtype)};
  if (r.inputs[3].shape != r.outputs[0].shape)
    return Decline{"residual has another shape than the output"};
  return std::nullopt;
}

/// Whether a kernel multiplies 8-bit codes exactly. The brg families are compiled per instruction
/// set and named after it; the 256-bit jit kernels take the 256-bit VNNI form when the processor
/// has it, those for SSE4.1 never; the others use what there is.
bool multiplies_exactly(const std::string& implementation) {
  if (!isa_has_vnni() || implementation.ends_with(":sse41")) return false;
  if (implementation.rfind("jit_uni_int8", 0) == 0) return isa_has_avx2_vnni();
  if (implementation.find("brg") == std::string::npos) return true;
  return !implementation.ends_with(":avx512_core") && !implementation.ends_with(":avx2");
}

dnnl::memory scale_memory(float value) { return vector_memory({value}); }

}  // namespace

float Codes::low() const { return dtype == DType::uint8 ? 0.0F : -128.0F; }
float Codes::high() const { return dtype == DType::uint8 ? 255.0F : 127.0F; }

Codes codes_of(const Attributes& a, const std::string& prefix, DType dtype) {
  return {dtype, a.float_or(prefix + "_scale", 1.0F),
          static_cast<std::int32_t>(a.int_or(prefix + "_zero_point", 0))};
}

std::variant<std::optional<Eltwise>, Decline> int_activation(const Attributes& a) {
  const std::string name = a.string_or("activation", "");
  if (name.empty()) return std::optional<Eltwise>{};
  const auto f = eltwise_of({.name = name,
                             .low = a.float_or("act_min", -infinite),
                             .high = a.float_or("act_max", infinite),
                             .alpha = a.float_or("act_alpha", name == "HardSigmoid" ? 0.2F : 0.01F),
                             .beta = a.float_or("act_beta", 0.5F)});
  if (!f) return Decline{"activation " + name + " has no oneDNN form"};
  return f;
}

std::variant<IntForm, Decline> int_form(const KernelRequest& r) {
  if (auto d = check_operands(r)) return *d;
  const Attributes& a = r.attributes();
  IntForm form{.x = codes_of(a, "x", r.inputs[0].dtype), .y = codes_of(a, "y", r.outputs[0].dtype)};
  form.w_scales = a.floats_or("w_scales", {1.0F});
  if (r.has_input(3)) {
    form.residual = codes_of(a, "residual", r.inputs[3].dtype);
    if (a.has("mid_scale")) {
      form.mid = codes_of(a, "mid", static_cast<DType>(a.int_or("mid_dtype", 2)));
      if (!is_code_type(form.mid->dtype))
        return Decline{"mid codes are " + to_string(form.mid->dtype)};
    }
  }
  auto activation = int_activation(a);
  if (auto* d = std::get_if<Decline>(&activation)) return *d;
  form.activation = without_redundant_bounds(std::get<0>(activation), form.y);
  return form;
}

// The output stage q(v) is monotone, so q(max(v, lo)) = max(q(v), q(lo)), which is q(v) when q(lo)
// is the smallest code; the same from above. Dropping such a bound saves a post-op and changes no
// bit.
std::optional<Eltwise> without_redundant_bounds(const std::optional<Eltwise>& activation,
                                                const Codes& y) {
  if (!activation || y.dtype == DType::float32) return activation;
  Eltwise f = *activation;
  if (f.algorithm == dnnl::algorithm::eltwise_relu && f.alpha == 0.0F) {
    if (output_code(0.0F, y) == y.low()) return std::nullopt;
    return f;
  }
  if (f.algorithm != dnnl::algorithm::eltwise_clip) return f;
  const bool low_free = output_code(f.alpha, y) == y.low();
  const bool high_free = output_code(f.beta, y) == y.high();
  if (low_free && high_free) return std::nullopt;
  if (low_free) f.alpha = -infinite;
  if (high_free) f.beta = infinite;
  return f;
}

dnnl::post_ops int_post_ops(const IntForm& form) {
  using A = dnnl::algorithm;
  dnnl::post_ops ops;
  if (form.mid) {
    const Codes& m = *form.mid;
    const auto zero = static_cast<float>(m.zero_point);
    ops.append_eltwise(A::eltwise_linear, 1.0F / m.scale, zero);
    ops.append_eltwise(A::eltwise_round, 0.0F, 0.0F);
    ops.append_eltwise(A::eltwise_clip, m.low(), m.high());
    ops.append_eltwise(A::eltwise_linear, m.scale, -zero * m.scale);
  }
  if (form.residual) {
    const Codes& s = *form.residual;
    if (form.y.dtype == DType::float32) {
      ops.append_sum(1.0F);  // the residual is dequantized into the output first
    } else {
      ops.append_sum(s.scale, s.zero_point, *dnnl_type(s.dtype));
    }
  }
  append_activation(ops, form.activation);
  return ops;
}

void add_quantization(const IntForm& form, int weight_mask, dnnl::primitive_attr& attr,
                      std::map<int, dnnl::memory>& constants) {
  attr.set_scales_mask(DNNL_ARG_SRC, 0);
  constants[DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC] = scale_memory(form.x.scale);
  attr.set_scales_mask(DNNL_ARG_WEIGHTS, form.w_scales.size() > 1 ? weight_mask : 0);
  constants[DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS] = vector_memory(form.w_scales);
  if (form.x.zero_point != 0) {
    attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
    constants[DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC] = zero_point_memory(form.x.zero_point);
  }
  if (form.y.dtype == DType::float32) return;
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  constants[DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST] = scale_memory(form.y.scale);
  if (form.y.zero_point != 0) {
    attr.set_zero_points_mask(DNNL_ARG_DST, 0);
    constants[DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST] = zero_point_memory(form.y.zero_point);
  }
}

IntArithmetic arithmetic_of(const IntForm& form, const std::string& implementation,
                            bool depthwise) {
  IntArithmetic a;
  const bool matmul = implementation.rfind("matmul", 0) == 0;
  const bool signed_source = form.x.dtype == DType::int8;
  if (!multiplies_exactly(implementation)) {
    // Depthwise kernels multiply one channel at a time: nothing to pair.
    if (!depthwise && !(signed_source && !matmul)) a.acc = Accumulator::s16pair;
    if (signed_source) a.s8 = matmul ? SignedSource::plus128 : SignedSource::halved;
  }
  const bool compensated = form.x.zero_point != 0 || signed_source;
  if (compensated && implementation.find("int8_1x1") != std::string::npos)
    a.comp = Compensation::f32;
  if (form.residual) {
    const bool separate =
        form.y.dtype == DType::float32 || !isa_has_avx2() || implementation.ends_with(":sse41");
    a.residual = separate ? ResidualForm::sum_mul_add : ResidualForm::sum_fma;
  }
  if (form.mid) a.mid = MidForm::linear_round_clip_linear;
  return a;
}

void plan_residual(const KernelRequest& r, const IntForm& form, std::int64_t count,
                   PrimitiveKernel& kernel, KernelPlan& plan) {
  if (!form.residual) return;
  if (form.y.dtype == DType::float32) {
    const Codes s = *form.residual;
    kernel.before_run([s, count](const Binding& b) {
      dequantize_codes({s.dtype, s.scale, s.zero_point}, b.inputs[3], count,
                       reinterpret_cast<float*>(b.outputs[0]));
    });
  } else if (r.dies[3] && r.inputs[3].layout == plan.outputs[0]) {
    plan.overwrites = 3;
  } else {
    kernel.before_run([count](const Binding& b) {
      std::memcpy(b.outputs[0], b.inputs[3], static_cast<std::size_t>(count));
    });
  }
}

}  // namespace assay::kernels
