#include "quant/finish.h"

#include <array>
#include <limits>
#include <mutex>
#include <span>

#include "runtime/numeric/block_map.h"
#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/run_op.h"

namespace assay {
namespace {

constexpr std::int64_t grain = 1 << 14;

template <class F>
void change_all(Tensor& t, const F& f) {
  const auto v = t.mutable_data<float>();
  map_all(v.data(), v.data(), t.numel(), f);
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

/// codes[i] = code_at(x[i]), an int32 within the type's range.
template <class F>
Tensor make_codes(DType t, const Tensor& x, const F& code_at) {
  Tensor out(t, x.shape());
  const auto fill = [&](auto codes) {
    using Code = typename decltype(codes)::value_type;
    map_all(x.data<float>().data(), codes.data(), x.numel(),
            [code_at](float v) { return static_cast<Code>(code_at(v)); });
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

/// count_rounding over value_at(x[i]), the zero point not yet added.
template <class F>
void count_values(std::span<const float> x, std::int64_t zero_point, CodeRange range,
                  IntegerCounts& counts, const F& value_at) {
  std::mutex mutex;
  parallel_for(
      0, static_cast<std::int64_t>(x.size()), grain, [&](std::int64_t first, std::int64_t last) {
        IntegerCounts part;
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
          count_rounding(value_at(x[i]), zero_point, range, part);
        const std::lock_guard lock(mutex);
        counts += part;
      });
}

// ---- the dequantized family

Tensor mid_by_nodes(const IntegerForm& form, const Tensor& v) {
  return dequantize_codes(quantize_codes(v, *form.mid, form.profile.division, nullptr), *form.mid);
}

void add_in_place(Tensor& v, const Tensor& d) {
  const auto sum = v.mutable_data<float>();
  map_all(sum.data(), d.data<float>().data(), sum.data(), v.numel(),
          [](float a, float b) { return a + b; });
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

/// q = fma(v, f32(1/s), z), rounded halves to even, clamped; then fma(q, s, f32(-z s)). Clamping
/// first gives the same, as the bounds are integers, and lets 1.5 * 2^23 do the rounding.
void mid_by_post_ops(Tensor& v, const QuantParams& m) {
  const float scale = m.scale, inverse = 1.0F / m.scale;
  const auto zero = static_cast<float>(m.zero_point);
  const auto low = static_cast<float>(m.range().lo), high = static_cast<float>(m.range().hi);
  change_all(v, [=](float x) {
    float q = std::fma(x, inverse, zero);
    q = std::min(std::max(q, low), high);
    q = (q + 0x1.8p23F) - 0x1.8p23F;
    return std::fma(q, scale, -zero * scale);
  });
}

float add_residual(float v, float d, float scale, bool fused) {
  if (scale == 1) return v + d;
  if (fused) return std::fma(d, scale, v);
  const float product = d * scale;
  return v + product;
}

/// use(f) with the activation as a function of a float.
template <class Use>
void with_activation(const IntegerActivation& a, const Use& use) {
  if (a.type == "Relu") return use([](float v) { return v > 0 ? v : 0.0F; });
  if (a.type == "LeakyRelu")
    return use([alpha = a.alpha](float v) { return v > 0 ? v : alpha * v; });
  if (a.type == "Clip") {
    constexpr float all = std::numeric_limits<float>::infinity();
    return use([low = a.min.value_or(-all), high = a.max.value_or(all)](float v) {
      return std::min(std::max(v, low), high);
    });
  }
  if (a.type == "HardSwish") {
    return use([](float v) {
      constexpr float sixth = 1.0F / 6;
      const float scaled = v * sixth;
      return v * std::clamp(scaled + 0.5F, 0.0F, 1.0F);
    });
  }
  if (a.type == "HardSigmoid") {
    return use([alpha = a.alpha, beta = a.beta](float v) {
      const float scaled = v * alpha;
      return std::clamp(scaled + beta, 0.0F, 1.0F);
    });
  }
  use([](float v) { return v; });
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
  if (form.mid) mid_by_post_ops(v, *form.mid);
  if (form.residual) {
    with_codes(residual, [&](auto codes) {
      using Code = typename decltype(codes)::value_type;
      const auto x = v.mutable_data<float>();
      const auto zero = static_cast<std::int32_t>(form.residual->zero_point);
      const float scale = form.residual->scale;
      const bool fused = form.profile.fma && form.quantized();
      map_all(x.data(), codes.data(), x.data(), v.numel(), [=](float value, Code r) {
        return add_residual(value, static_cast<float>(std::int32_t{r} - zero), scale, fused);
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
  std::array<float, 256> table;
  const std::int64_t lowest = code_range(codes.dtype()).lo;
  for (std::int64_t k = 0; k < 256; ++k)
    table[static_cast<std::size_t>(k)] = dequantize_value(k + lowest, p.zero_point, p.scale);
  with_codes(codes, [&](auto q) {
    map_all(q.data(), y.data(), codes.numel(), [&table, lowest](auto code) {
      return table[static_cast<std::size_t>(std::int64_t{code} - lowest)];
    });
  });
  return out;
}

Tensor quantize_codes(const Tensor& x, const QuantParams& p, Quotient division,
                      IntegerCounts* counts) {
  const SmallCodes code_of_value(p.zero_point, p.range());
  const auto codes = [&](auto value_at) {
    if (counts != nullptr)
      count_values(x.data<float>(), p.zero_point, p.range(), *counts, value_at);
    return make_codes(p.dtype, x, [=](float v) { return code_of_value(value_at(v)); });
  };
  // Each reading of the quotient is a loop of its own.
  const double scale = p.scale;
  switch (division) {
    case Quotient::exact:
      return codes([scale](float v) { return quotient(v, scale, Quotient::exact); });
    case Quotient::float32:
      return codes([scale](float v) { return quotient(v, scale, Quotient::float32); });
    case Quotient::reciprocal:
      return codes([scale](float v) { return quotient(v, scale, Quotient::reciprocal); });
  }
  return Tensor();
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
  if (!form.quantized()) {
    with_activation(form.activation, [&](auto activate) { change_all(v, activate); });
    return v;
  }
  const CodeRange range = form.y.range();
  const auto zero = static_cast<float>(form.y.zero_point);
  const float inverse = 1.0F / form.y.scale;
  const bool scaled = form.y.scale != 1;
  with_activation(form.activation, [&](auto activate) {
    change_all(v, [=](float x) {
      const float active = activate(x);
      const float code = scaled ? active * inverse : active;
      return zero != 0 ? code + zero : code;
    });
  });
  if (counts != nullptr) {
    count_values(v.data<float>(), 0, range, *counts,
                 [](float code) { return static_cast<double>(code); });
  }
  // The zero point is in the value already; NaN becomes it all the same.
  const SmallCodes nearest(0, range);
  return make_codes(form.y.dtype, v, [=](float code) {
    return nearest(static_cast<double>(code == code ? code : zero));
  });
}

void store_result(EvalContext& c, const Tensor& result) {
  const DType wanted = is_float(result.dtype()) ? c.widen(result.dtype()) : result.dtype();
  c.outputs.at(0) = wanted == result.dtype() ? result : convert(result, wanted);
}

}  // namespace assay
