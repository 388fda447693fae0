#include "quant/ops/linear_codes.h"

#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "quant/requantize.h"
#include "runtime/numeric/block_map.h"

namespace assay {
namespace {

using Sums = std::vector<std::int32_t>;

std::int32_t wrap(std::int64_t v) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
}

/// f(channel, first output, count) for every stretch of outputs of one channel, on all threads.
template <class F>
void each_channel(const LinearProblem& p, const F& f) {
  const std::int64_t stretches = p.y_shape.numel() / std::max<std::int64_t>(p.inner, 1);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kMapGrain / std::max<std::int64_t>(p.inner, 1));
  parallel_for(0, stretches, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k)
      f(static_cast<std::size_t>(k % p.channels), k * p.inner, p.inner);
  });
}

/// sum of all weights of each output channel; weights are laid out channel first.
Sums weight_sums(const LinearProblem& p, const Tensor& w) {
  Sums sums(static_cast<std::size_t>(p.channels));
  const auto q = w.data<std::int8_t>();
  const std::size_t each = q.size() / std::max<std::size_t>(sums.size(), 1);
  parallel_for(0, p.channels, 1, [&](std::int64_t first, std::int64_t last) {
    for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
      const auto channel = q.subspan(c * each, each);
      sums[c] = std::accumulate(channel.begin(), channel.end(), std::int32_t{0});
    }
  });
  return sums;
}

/// Weights as kernels without VNNI keep them for int8 sources: rne(w / 2).
Tensor halved(const Tensor& w) {
  Tensor out(DType::int8, w.shape());
  const auto from = w.data<std::int8_t>();
  const auto to = out.mutable_data<std::int8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<std::int8_t>(round_half_even(static_cast<double>(from[i]) / 2));
  }
  return out;
}

Tensor shifted(const Tensor& x) {
  if (x.dtype() == DType::uint8) return x;
  Tensor out(DType::uint8, x.shape());
  const auto from = x.data<std::int8_t>();
  const auto to = out.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<std::uint8_t>(from[i] + 128);
  return out;
}

/// What a kernel of the float32 family accumulates, and what it subtracts.
struct Accumulated {
  Sums raw;         ///< sum of products of codes (shifted by 128 for int8 sources without VNNI)
  Sums shift;       ///< per channel: 128 * sum w, or 0
  Sums zero;        ///< per channel: z_x * sum w
  float scale = 1;  ///< 2 for halved weights
};

/// Padding takes no part in the kernels: its products are left out of the pairs, and the zero point
/// is taken off for the taps inside the input alone. Their weights are summed by the same pairs
/// over ones, which cannot saturate.
void paired_without_padding(const LinearProblem& p, const Tensor& w, Accumulated& a) {
  p.paired(p.x, w, 0, a.raw.data());
  std::fill(a.zero.begin(), a.zero.end(), 0);
  if (p.form->x.zero_point == 0) return;
  Tensor ones(DType::uint8, p.x.shape());
  std::fill(ones.mutable_data<std::uint8_t>().begin(), ones.mutable_data<std::uint8_t>().end(),
            std::uint8_t{1});
  Sums inside(a.raw.size());
  p.paired(ones, w, 0, inside.data());
  for (std::size_t i = 0; i < a.raw.size(); ++i) {
    a.raw[i] = wrap(std::int64_t{a.raw[i]} - p.form->x.zero_point * std::int64_t{inside[i]});
  }
}

Accumulated accumulate(const LinearProblem& p, IntReport& report) {
  const NumericProfile& profile = p.form->profile;
  const bool is_signed = p.x.dtype() == DType::int8;
  const bool halve = is_signed && profile.s8 == S8Form::halved;
  const bool pairs = profile.pairs == PairModel::s16pair && !p.depthwise && !halve;
  const Tensor w = halve ? halved(p.w) : p.w;
  Accumulated a{.raw = Sums(static_cast<std::size_t>(p.y_shape.numel())),
                .shift = {},
                .zero = weight_sums(p, w),
                .scale = halve ? 2.0F : 1.0F};
  const std::int32_t offset = is_signed && profile.s8 != S8Form::plain ? 128 : 0;
  const bool offset_needed = offset != 0 || (pairs && is_signed);
  a.shift = Sums(a.zero.size());
  for (std::size_t c = 0; c < a.zero.size(); ++c) {
    a.shift[c] = wrap(std::int64_t{offset_needed ? 128 : 0} * a.zero[c]);
    a.zero[c] = wrap(p.form->x.zero_point * a.zero[c]);
  }
  if (pairs && !is_signed && profile.compensation == Compensation::s32) {
    paired_without_padding(p, w, a);
    return a;
  }
  if (pairs) {
    const auto pad = static_cast<std::uint8_t>(p.form->x.zero_point + (offset_needed ? 128 : 0));
    p.paired(shifted(p.x), w, pad, a.raw.data());
    return a;
  }
  report = p.exact(w, a.raw.data());
  each_channel(p, [&](std::size_t c, std::int64_t begin, std::int64_t count) {
    const std::int32_t more = wrap(std::int64_t{a.shift[c]} + a.zero[c]);
    map_part(
        count, [=](std::int32_t r) { return wrap(std::int64_t{r} + more); }, a.raw.data() + begin,
        a.raw.data() + begin);
  });
  return a;
}

/// out[i] = f32(sum) * scale + bias for the outputs of one channel.
void channel_values(const Accumulated& a, std::size_t c, Compensation how, float scale, float bias,
                    std::span<const std::int32_t> raw, float* out) {
  const auto n = static_cast<std::int64_t>(raw.size());
  if (how == Compensation::s32) {
    const std::int32_t less = wrap(std::int64_t{a.shift[c]} + a.zero[c]);
    return map_part(
        n,
        [=](std::int32_t r) {
          const float v = static_cast<float>(wrap(std::int64_t{r} - less)) * scale;
          return v + bias;
        },
        raw.data(), out);
  }
  // Taking 0 away from a sum changes nothing.
  const auto shift = static_cast<float>(a.shift[c]), zero = static_cast<float>(a.zero[c]);
  map_part(
      n,
      [=](std::int32_t r) {
        const float shifted_back = static_cast<float>(r) - shift;
        const float v = (shifted_back - zero) * scale;
        return v + bias;
      },
      raw.data(), out);
}

void note_accumulators(const IntReport& report, IntegerCounts* counts) {
  if (counts == nullptr) return;
  counts->overflowed += report.overflowed;
  counts->max_abs_accumulator = std::max(counts->max_abs_accumulator, report.max_abs);
}

Tensor run_float32(const LinearProblem& p, IntegerCounts* counts) {
  IntReport report;
  const Accumulated a = accumulate(p, report);
  note_accumulators(report, counts);
  Tensor v(DType::float32, p.y_shape);
  const auto y = v.mutable_data<float>();
  const float* bias = p.bias.defined() ? p.bias.data<float>().data() : nullptr;
  each_channel(p, [&](std::size_t c, std::int64_t begin, std::int64_t count) {
    const float scale = p.form->x.scale * p.form->w_scale(static_cast<std::int64_t>(c)) * a.scale;
    // Adding -0 changes nothing, not even the sign of a zero.
    channel_values(a, c, p.form->profile.compensation, scale, bias != nullptr ? bias[c] : -0.0F,
                   {a.raw.data() + begin, static_cast<std::size_t>(count)}, y.data() + begin);
  });
  return finish(*p.form, std::move(v), p.residual, counts);
}

Tensor run_dequantized(const LinearProblem& p, IntegerCounts* counts) {
  if (counts != nullptr) {
    Sums acc(static_cast<std::size_t>(p.y_shape.numel()));
    note_accumulators(p.exact(p.w, acc.data()), counts);
  }
  Tensor v = p.correct(dequantize_codes(p.x, p.form->x));
  return finish(*p.form, std::move(v), p.residual, counts);
}

/// The activation as bounds on codes.
CodeRange activation_bounds(const IntegerForm& form) {
  CodeRange range = form.y.range();
  const auto code = [&](float v) {
    return quantize_value(v, form.y.scale, form.y.zero_point, range);
  };
  const IntegerActivation& a = form.activation;
  if (a.type == "Relu")
    range.lo = std::max(range.lo, form.y.zero_point);
  else if (a.type == "Clip")
    range = {a.min ? code(*a.min) : range.lo, a.max ? code(*a.max) : range.hi};
  else if (!a.type.empty())
    undefined_in_profile(form.profile, "the activation " + a.type);
  return range;
}

Tensor run_requantized(const LinearProblem& p, IntegerCounts* counts) {
  const IntegerForm& form = *p.form;
  if (form.residual) undefined_in_profile(form.profile, "a fused Add");
  if (!form.quantized()) undefined_in_profile(form.profile, "a float32 result");
  Sums acc(static_cast<std::size_t>(p.y_shape.numel()));
  note_accumulators(p.exact(p.w, acc.data()), counts);
  const CodeRange bounds = activation_bounds(form);
  std::vector<Requantizer> by_channel;
  std::vector<std::int64_t> bias;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    by_channel.emplace_back(form, c);
    bias.push_back(p.bias.defined() ? by_channel.back().integer_bias(
                                          p.bias.data<float>()[static_cast<std::size_t>(c)])
                                    : 0);
  }
  Tensor codes(form.y.dtype, p.y_shape);
  for (std::size_t i = 0; i < acc.size(); ++i) {
    const auto c = static_cast<std::size_t>(p.channel_of(i));
    const std::int64_t sum = wrap(acc[i] + bias[c]);
    const std::int64_t code = std::clamp(by_channel[c].code(sum), bounds.lo, bounds.hi);
    if (form.y.dtype == DType::uint8)
      codes.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(code);
    else
      codes.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(code);
    if (counts == nullptr) continue;
    ++counts->elements;
    const double distance = by_channel[c].distance_from_tie(sum);
    counts->ties += distance == 0;
    counts->near_ties += distance < near_tie;
    counts->saturated_low += code == form.y.range().lo;
    counts->saturated_high += code == form.y.range().hi;
  }
  return codes;
}

}  // namespace

Tensor dequantized_weights(const Tensor& codes, const IntegerForm& form) {
  Tensor out(DType::float32, codes.shape());
  const auto q = codes.data<std::int8_t>();
  const auto w = out.mutable_data<float>();
  const auto each = static_cast<std::size_t>(codes.shape().numel(1, codes.shape().rank()));
  for (std::size_t i = 0; i < q.size(); i += each) {
    const float scale = form.w_scale(static_cast<std::int64_t>(i / each));
    for (std::size_t k = i; k < i + each; ++k) w[k] = dequantize_value(q[k], 0, scale);
  }
  return out;
}

Tensor run_linear(const LinearProblem& p, IntegerCounts* counts) {
  const auto scales = static_cast<std::int64_t>(p.form->w_scales.size());
  if (scales != 1 && scales != p.channels) {
    throw Error({.what = "number of weight scales does not fit",
                 .got = std::to_string(scales),
                 .expected = "1 or " + std::to_string(p.channels)});
  }
  if (p.w.dtype() != DType::int8)
    throw Error({.what = "weight codes are not int8", .got = describe(p.w)});
  switch (p.form->profile.scale) {
    case ScaleForm::dequantized:
      return run_dequantized(p, counts);
    case ScaleForm::float32:
      return run_float32(p, counts);
    default:
      return run_requantized(p, counts);
  }
}

}  // namespace assay
