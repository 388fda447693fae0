#include "quant/finish.h"

#include <limits>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/run_op.h"

namespace assay {
namespace {

constexpr std::int64_t grain = 1 << 14;

template <class F>
void each_element(std::int64_t n, F&& f) {
  parallel_for(0, n, grain, [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) f(i);
  });
}

/// f(span of codes) with the element type.
template <class F>
void with_codes(const Tensor& t, F&& f) {
  if (t.dtype() == DType::uint8) return f(t.data<std::uint8_t>());
  if (t.dtype() == DType::int8) return f(t.data<std::int8_t>());
  throw Error({.what = "codes have an unsupported type",
               .got = describe(t),
               .expected = "uint8 or int8",
               .kind = ErrorKind::unsupported});
}

template <class F>
Tensor make_codes(DType t, const Shape& shape, F&& code_at) {
  Tensor out(t, shape);
  const auto fill = [&](auto span) {
    each_element(out.numel(), [&](std::size_t i) {
      span[i] = static_cast<typename decltype(span)::value_type>(code_at(i));
    });
  };
  if (t == DType::uint8)
    fill(out.mutable_data<std::uint8_t>());
  else if (t == DType::int8)
    fill(out.mutable_data<std::int8_t>());
  else
    throw Error({.what = "codes have an unsupported type",
                 .got = to_string(t),
                 .kind = ErrorKind::unsupported});
  return out;
}

/// To nearest, halves to even, for a float32 of any size.
float rne(float v) {
  if (!(std::abs(v) < 0x1p23F)) return v;
  const auto whole = static_cast<float>(round_half_even(static_cast<double>(v)));
  return std::copysign(whole, v);
}

/// Counts over values to be rounded; the zero point is part of `v` when it is added before
/// rounding.
void count_value(double v, std::int64_t zero_point, CodeRange range, IntegerCounts& counts) {
  ++counts.elements;
  if (std::isnan(v)) {
    ++counts.nan;
    return;
  }
  const double code = v + static_cast<double>(zero_point);
  counts.saturated_low += code < static_cast<double>(range.lo) - 0.5;
  counts.saturated_high += code > static_cast<double>(range.hi) + 0.5;
  const double distance = std::isfinite(v) ? tie_distance(v) : 1.0;
  counts.ties += distance == 0;
  counts.near_ties += distance < near_tie;
}

// ---- the dequantized family

Tensor mid_by_nodes(const IntegerForm& form, const Tensor& v) {
  return dequantize_codes(quantize_codes(v, *form.mid, form.profile.division, nullptr), *form.mid);
}

void add_in_place(Tensor& v, const Tensor& d) {
  const auto a = v.mutable_data<float>();
  const auto b = d.data<float>();
  each_element(v.numel(), [&](std::size_t i) { a[i] = a[i] + b[i]; });
}

Tensor finish_by_nodes(const IntegerForm& form, Tensor v, const Tensor& residual,
                       IntegerCounts* counts) {
  if (form.mid) v = mid_by_nodes(form, v);
  if (form.residual) add_in_place(v, dequantize_codes(residual, *form.residual));
  if (!form.activation.type.empty()) v = apply_activation(form.activation, v);
  if (!form.quantized()) return v;
  return quantize_codes(v, form.y, form.profile.division, counts);
}

// ---- the float32 family

float mid_by_post_ops(float v, const QuantParams& m) {
  const auto zero = static_cast<float>(m.zero_point);
  float q = std::fma(v, 1.0F / m.scale, zero);
  q = rne(q);
  q = std::min(std::max(q, static_cast<float>(m.range().lo)), static_cast<float>(m.range().hi));
  return std::fma(q, m.scale, -zero * m.scale);
}

float add_residual(float v, float d, const IntegerForm& form) {
  const float scale = form.residual->scale;
  if (scale == 1) return v + d;
  if (form.profile.fma && form.quantized()) return std::fma(d, scale, v);
  const float product = d * scale;
  return v + product;
}

float activate(float v, const IntegerActivation& a) {
  if (a.type == "Relu") return v > 0 ? v : 0.0F;
  if (a.type == "LeakyRelu") return v > 0 ? v : a.alpha * v;
  if (a.type == "Clip") {
    if (a.min) v = std::max(v, *a.min);
    if (a.max) v = std::min(v, *a.max);
    return v;
  }
  if (a.type == "HardSwish") {
    constexpr float sixth = 1.0F / 6;
    const float scaled = v * sixth;
    return v * std::clamp(scaled + 0.5F, 0.0F, 1.0F);
  }
  if (a.type == "HardSigmoid") {
    const float scaled = v * a.alpha;
    return std::clamp(scaled + a.beta, 0.0F, 1.0F);
  }
  return v;
}

void check_activation(const IntegerForm& form) {
  const std::string& t = form.activation.type;
  for (const char* known : {"", "Relu", "LeakyRelu", "Clip", "HardSwish", "HardSigmoid"}) {
    if (t == known) return;
  }
  undefined_in_profile(form.profile, "the activation " + t);
}

Tensor finish_by_post_ops(const IntegerForm& form, Tensor v, const Tensor& residual,
                          IntegerCounts* counts) {
  const auto x = v.mutable_data<float>();
  if (form.mid)
    each_element(v.numel(), [&](std::size_t i) { x[i] = mid_by_post_ops(x[i], *form.mid); });
  if (form.residual) {
    with_codes(residual, [&](auto r) {
      each_element(v.numel(), [&](std::size_t i) {
        x[i] = add_residual(
            x[i], static_cast<float>(std::int64_t{r[i]} - form.residual->zero_point), form);
      });
    });
  }
  return finish_float32(form, std::move(v), counts);
}

}  // namespace

Tensor apply_activation(const IntegerActivation& activation, const Tensor& x) {
  Attributes a;
  std::vector<Tensor> inputs = {x};
  if (activation.type == "Clip") {
    inputs.push_back(activation.min ? Tensor::scalar(*activation.min) : Tensor());
    inputs.push_back(activation.max ? Tensor::scalar(*activation.max) : Tensor());
  }
  if (activation.type == "LeakyRelu" || activation.type == "HardSigmoid")
    a.set("alpha", activation.alpha);
  if (activation.type == "HardSigmoid") a.set("beta", activation.beta);
  return ops::run_standard(activation.type, a, inputs);
}

Tensor dequantize_codes(const Tensor& codes, const QuantParams& p) {
  Tensor out(DType::float32, codes.shape());
  const auto y = out.mutable_data<float>();
  float table[256];
  const std::int64_t lowest = code_range(codes.dtype()).lo;
  for (std::int64_t k = 0; k < 256; ++k)
    table[k] = dequantize_value(k + lowest, p.zero_point, p.scale);
  with_codes(codes, [&](auto q) {
    each_element(codes.numel(), [&](std::size_t i) { y[i] = table[std::int64_t{q[i]} - lowest]; });
  });
  return out;
}

Tensor quantize_codes(const Tensor& x, const QuantParams& p, Quotient division,
                      IntegerCounts* counts) {
  const auto v = x.data<float>();
  const CodeRange range = p.range();
  const auto at = [&](std::size_t i) { return quotient(v[i], p.scale, division); };
  if (counts != nullptr) {
    for (std::size_t i = 0; i < v.size(); ++i) count_value(at(i), p.zero_point, range, *counts);
  }
  return make_codes(p.dtype, x.shape(),
                    [&](std::size_t i) { return code_of(at(i), p.zero_point, range); });
}

Tensor finish(const IntegerForm& form, Tensor linear, const Tensor& residual,
              IntegerCounts* counts) {
  if (form.residual && !(residual.shape() == linear.shape())) {
    throw Error({.what = "residual and result differ in shape",
                 .got = to_string(residual.shape()) + " and " + to_string(linear.shape())});
  }
  if (form.profile.scale == ScaleForm::dequantized)
    return finish_by_nodes(form, std::move(linear), residual, counts);
  return finish_by_post_ops(form, std::move(linear), residual, counts);
}

Tensor finish_float32(const IntegerForm& form, Tensor v, IntegerCounts* counts) {
  check_activation(form);
  const auto x = v.mutable_data<float>();
  each_element(v.numel(), [&](std::size_t i) { x[i] = activate(x[i], form.activation); });
  if (!form.quantized()) return v;
  const CodeRange range = form.y.range();
  const auto zero = static_cast<float>(form.y.zero_point);
  const auto low = static_cast<float>(range.lo), high = static_cast<float>(range.hi);
  const float inverse = 1.0F / form.y.scale;
  each_element(v.numel(), [&](std::size_t i) {
    if (form.y.scale != 1) x[i] = x[i] * inverse;
    if (zero != 0) x[i] = x[i] + zero;
  });
  if (counts != nullptr) {
    for (const float code : x) count_value(static_cast<double>(code), 0, range, *counts);
  }
  return make_codes(form.y.dtype, v.shape(), [&](std::size_t i) {
    const float clamped = std::isnan(x[i]) ? zero : std::min(std::max(x[i], low), high);
    return round_half_even(static_cast<double>(clamped));
  });
}

void store_result(EvalContext& c, const Tensor& result) {
  const DType wanted = is_float(result.dtype()) ? c.widen(result.dtype()) : result.dtype();
  c.outputs.at(0) = wanted == result.dtype() ? result : convert(result, wanted);
}

}  // namespace assay
