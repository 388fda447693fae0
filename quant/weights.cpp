#include "quant/weights.h"

#include <limits>

#include "quant/params.h"
#include "runtime/numeric/block_map.h"
#include "runtime/numeric/finite.h"

namespace assay {
namespace {

constexpr CodeRange symmetric_codes{-127, 127};
constexpr CodeRange bias_codes{std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int32_t>::max()};

struct Layout {
  std::int64_t channels = 1;
  std::int64_t inner = 1;
  /// f(channel, first, last) for the stretches [first, last) of one channel each; on all threads
  /// when every channel has one stretch.
  template <class F>
  void each_stretch(std::size_t size, const F& f) const {
    const std::int64_t stretches =
        static_cast<std::int64_t>(size) / std::max<std::int64_t>(inner, 1);
    const std::int64_t grain =
        stretches == channels ? std::max<std::int64_t>(1, kMapGrain / inner) : stretches;
    parallel_for(0, stretches, std::max<std::int64_t>(grain, 1),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) {
                     f(static_cast<std::size_t>(k % channels), static_cast<std::size_t>(k * inner),
                       static_cast<std::size_t>((k + 1) * inner));
                   }
                 });
  }
};

Layout layout_of(const WeightRequest& r) {
  const Shape& s = r.weight.shape();
  const std::int64_t axis = normalize_axis(r.axis, s.rank());
  return {s[axis], s.numel(axis + 1, s.rank())};
}

std::vector<float> magnitudes(const WeightRequest& r, const Layout& layout) {
  std::vector<float> largest(static_cast<std::size_t>(layout.channels));
  const auto w = r.weight.data<float>();
  layout.each_stretch(w.size(), [&](std::size_t channel, std::size_t first, std::size_t last) {
    if (first_not_finite(w.subspan(first, last - first))) {
      throw Error(
          {.what = "weight is not finite", .where = "output channel " + std::to_string(channel)});
    }
    float& most = largest[channel];
    for (std::size_t i = first; i < last; ++i) most = std::max(most, std::abs(w[i]));
  });
  return largest;
}

bool product_is_normal(float a, float b) { return a * b >= std::numeric_limits<float>::min(); }

/// Scales by channel; 0 marks a dead one.
std::vector<float> raw_scales(const WeightRequest& r, const std::vector<float>& largest) {
  std::vector<float> scales(largest.size());
  float all = 0;
  for (const float m : largest) all = std::max(all, m);
  for (std::size_t c = 0; c < scales.size(); ++c) {
    scales[c] = weight_scale(r.per_channel ? largest[c] : all);
    if (!product_is_normal(scales[c], r.x_scale)) scales[c] = 0;
  }
  return scales;
}

void revive(std::vector<float>& scales, std::vector<std::int64_t>& dead) {
  float live = 0;
  for (const float s : scales) live = std::max(live, s);
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (scales[c] != 0) continue;
    dead.push_back(static_cast<std::int64_t>(c));
    scales[c] = live == 0 ? 1.0F : live;
  }
}

/// The least float32 weight scale with |bias| <= (2^31 - 1) * f32(x_scale * scale).
float scale_for_bias(float bias, float x_scale, float scale) {
  const double limit = static_cast<double>(bias_codes.hi);
  const auto fits = [&](float s) {
    return std::abs(static_cast<double>(bias)) <= limit * static_cast<double>(x_scale * s);
  };
  if (fits(scale)) return scale;
  auto raised = static_cast<float>(std::abs(static_cast<double>(bias)) / limit /
                                   static_cast<double>(x_scale));
  while (!fits(raised)) raised = std::nextafter(raised, std::numeric_limits<float>::infinity());
  return raised;
}

void raise_for_bias(const WeightRequest& r, std::vector<float>& scales,
                    std::vector<std::int64_t>& raised) {
  if (!r.bias.defined()) return;
  const auto b = r.bias.data<float>();
  ASSAY_ASSERT(b.size() == scales.size());
  for (std::size_t c = 0; c < b.size(); ++c) {
    if (!std::isfinite(b[c])) {
      throw Error({.what = "bias is not finite", .where = "output channel " + std::to_string(c)});
    }
    const float s = scale_for_bias(b[c], r.x_scale, scales[c]);
    if (s == scales[c]) continue;
    scales[c] = s;
    raised.push_back(static_cast<std::int64_t>(c));
  }
  if (r.per_channel || raised.empty()) return;
  const float all = *std::max_element(scales.begin(), scales.end());
  std::fill(scales.begin(), scales.end(), all);
}

Tensor weight_tensor(const WeightRequest& r, const Layout& layout,
                     const std::vector<float>& scales) {
  Tensor codes(DType::int8, r.weight.shape());
  const auto w = r.weight.data<float>();
  const auto q = codes.mutable_data<std::int8_t>();
  const SmallCodes code_of_steps(0, symmetric_codes);
  layout.each_stretch(w.size(), [&](std::size_t channel, std::size_t first, std::size_t last) {
    map_block(w.data() + first, q.data() + first, static_cast<std::int64_t>(last - first),
              [code_of_steps, scale = static_cast<double>(scales[channel])](float v) {
                return static_cast<std::int8_t>(code_of_steps(quotient(v, scale, Quotient::exact)));
              });
  });
  return codes;
}

void add_bias(const WeightRequest& r, const std::vector<float>& scales, QuantizedWeights& out) {
  if (!r.bias.defined()) return;
  out.bias_codes = Tensor(DType::int32, {r.bias.numel()});
  out.bias_scales = Tensor(DType::float32, {r.bias.numel()});
  const auto b = r.bias.data<float>();
  for (std::size_t c = 0; c < b.size(); ++c) {
    const float scale = r.x_scale * scales[c];
    out.bias_scales.mutable_data<float>()[c] = scale;
    out.bias_codes.mutable_data<std::int32_t>()[c] =
        static_cast<std::int32_t>(quantize_value(b[c], scale, 0, bias_codes));
  }
}

}  // namespace

QuantizedWeights quantize_weights(const WeightRequest& r) {
  const Layout layout = layout_of(r);
  QuantizedWeights out;
  auto scales = raw_scales(r, magnitudes(r, layout));
  revive(scales, out.dead);
  raise_for_bias(r, scales, out.raised);
  out.codes = weight_tensor(r, layout, scales);
  add_bias(r, scales, out);
  if (!r.per_channel && !scales.empty()) scales.resize(1);
  const auto n = static_cast<std::int64_t>(scales.size());
  out.scales = Tensor::of<float>(r.per_channel ? Shape{n} : Shape{}, scales);
  return out;
}

}  // namespace assay
