#include "quant/ops/linear_codes.h"

#include <array>
#include <limits>

#include "quant/requantize.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

using Sums = std::vector<std::int32_t>;

std::int32_t wrap(std::int64_t v) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
}

/// sum of all weights of each output channel; weights are laid out channel first.
Sums weight_sums(const LinearProblem& p, const Tensor& w) {
  Sums sums(static_cast<std::size_t>(p.channels));
  const auto q = w.data<std::int8_t>();
  const std::size_t each = q.size() / std::max<std::size_t>(sums.size(), 1);
  for (std::size_t i = 0; i < q.size(); ++i) sums[i / each] += q[i];
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
  for (std::size_t i = 0; i < a.raw.size(); ++i) {
    const auto c = static_cast<std::size_t>(p.channel_of(i));
    a.raw[i] = wrap(std::int64_t{a.raw[i]} + a.shift[c] + a.zero[c]);
  }
  return a;
}

float as_float(const Accumulated& a, std::size_t i, std::size_t c, Compensation how) {
  if (how == Compensation::s32)
    return static_cast<float>(wrap(std::int64_t{a.raw[i]} - a.shift[c] - a.zero[c]));
  float v = static_cast<float>(a.raw[i]);
  if (a.shift[c] != 0) v = v - static_cast<float>(a.shift[c]);
  if (a.zero[c] != 0) v = v - static_cast<float>(a.zero[c]);
  return v;
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
  std::vector<float> scales;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    scales.push_back(p.form->x.scale * p.form->w_scale(c) * a.scale);
  }
  parallel_for(0, v.numel(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const auto c = static_cast<std::size_t>(p.channel_of(i));
      y[i] = as_float(a, i, c, p.form->profile.compensation) * scales[c];
      if (bias != nullptr) y[i] = y[i] + bias[c];
    }
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
  for (std::size_t i = 0; i < q.size(); ++i)
    w[i] = dequantize_value(q[i], 0, form.w_scale(static_cast<std::int64_t>(i / each)));
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
