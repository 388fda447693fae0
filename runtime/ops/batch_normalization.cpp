// BatchNormalization (1, 6, 7, 9, 14, 15): y = (x - mean) / sqrt(var + epsilon) * scale + B per
// channel.
//
// Inference uses the given statistics. In training mode (opset 14: training_mode = 1; before: more
// than one output, and is_test = 0 where that attribute exists) y uses the batch's own mean and
// population variance, and
//   running = input * momentum + batch * (1 - momentum).
// Outputs: opset 14 and later Y, running_mean, running_var; before, Y, mean, var, saved_mean,
// saved_var (the last two are those of the batch). spatial = 0 (opset 1 to 8) normalizes every
// element of an image on its own. cr rounds the exact composite once; the running statistics are
// computed in double-double and rounded once. f32 is
//   s = scale / sqrt(var + epsilon);  y = fma(x - mean, s, B).
#include <cstring>

#include "runtime/numeric/rows.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops::batch_normalization_op {
namespace {

/// x as [batch, channels, inner].
struct Layout {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
};

Layout layout_of(const Node& node, std::int64_t opset, const Shape& x) {
  Layout l;
  if (x.rank() == 0) return l;
  l.batch = x[0];
  if (opset < 9 && node.attributes.int_or("spatial", 1) == 0) {
    l.channels = x.numel(1, x.rank());
    return l;
  }
  if (x.rank() == 1) return l;  // one channel
  l.channels = x[1];
  l.inner = x.numel(2, x.rank());
  return l;
}

bool training(const Node& node, std::int64_t opset) {
  if (opset >= 14) return node.attributes.int_or("training_mode", 0) != 0;
  if (opset < 7 && node.attributes.int_or("is_test", 0) != 0) return false;
  return node.has_output(1);
}

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  c.set_output(0, c.input(0));
  for (std::size_t i = 1; i < c.output_count(); ++i) c.set_output(i, c.input(3));
}

void check_parameters(const EvalContext& c, const Layout& l) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (c.input(i).numel() == l.channels) continue;
    throw Error({.what = "input " + std::to_string(i) + " of BatchNormalization has the wrong size",
                 .got = describe(c.input(i)),
                 .expected = std::to_string(l.channels) + " elements"});
  }
}

/// Parameter `i` of channel `ch` as T; parameters may be of another float type than x.
template <class T>
std::vector<T> parameter(const EvalContext& c, std::size_t i) {
  const Tensor t = convert(c.input(i), dtype_of<T>);
  const auto values = t.data<T>();
  return {values.begin(), values.end()};
}

/// Calls fn(channel, part of x, part of y) for every stretch of one channel.
template <class T, class F>
RangeFn stretches(EvalContext& c, const Layout& l, F fn) {
  return [x = c.in<T>(0), y = c.out<T>(0), l, fn = std::move(fn)](std::int64_t first,
                                                                  std::int64_t last) {
    for (std::int64_t at = first; at < last;) {
      const std::int64_t row = at / l.inner, end = std::min(last, (row + 1) * l.inner);
      const auto begin = static_cast<std::size_t>(at), count = static_cast<std::size_t>(end - at);
      fn(static_cast<std::size_t>(row % l.channels), x.subspan(begin, count),
         y.subspan(begin, count));
      at = end;
    }
  };
}

constexpr std::int64_t kChannelGrain = 256;  // channels whose coefficients are worth a thread

std::vector<BatchNormChannel> correct_channels(const EvalContext& c, const Layout& l) {
  const auto scale = parameter<float>(c, 1), bias = parameter<float>(c, 2);
  const auto mean = parameter<float>(c, 3), variance = parameter<float>(c, 4);
  const float epsilon = c.attributes().float_or("epsilon", 1e-5F);
  std::vector<BatchNormChannel> channels(scale.size());
  parallel_for(0, l.channels, kChannelGrain, [&](std::int64_t first, std::int64_t last) {
    for (auto ch = static_cast<std::size_t>(first); ch < static_cast<std::size_t>(last); ++ch) {
      channels[ch] = BatchNormChannel({.scale = scale[ch],
                                       .bias = bias[ch],
                                       .mean = mean[ch],
                                       .variance = variance[ch],
                                       .epsilon = epsilon});
    }
  });
  return channels;
}

template <class T>
std::vector<RowBatchNorm<T>> canonical_channels(const EvalContext& c) {
  const auto scale = parameter<T>(c, 1), bias = parameter<T>(c, 2);
  const auto mean = parameter<T>(c, 3), variance = parameter<T>(c, 4);
  const T epsilon = T(c.attributes().float_or("epsilon", 1e-5F));
  std::vector<RowBatchNorm<T>> channels;
  for (std::size_t ch = 0; ch < scale.size(); ++ch)
    channels.push_back({scale[ch], bias[ch], mean[ch], variance[ch], epsilon});
  return channels;
}

/// Channels of x of this type, kept between runs.
struct KeptChannels {
  DType type = DType::undefined;
  std::shared_ptr<const void> channels = {};
};

/// What make() gives; made once per node when the parameters are constants.
template <class Make>
auto kept_channels(EvalContext& c, const Make& make) {
  using Channels = decltype(make());
  const bool constant =
      c.is_constant(1) && c.is_constant(2) && c.is_constant(3) && c.is_constant(4);
  if (!constant || c.state == nullptr) return std::make_shared<const Channels>(make());
  auto& kept = c.cached<KeptChannels>([] { return KeptChannels{}; });
  if (kept.type != c.input(0).dtype())
    kept = {c.input(0).dtype(), std::make_shared<const Channels>(make())};
  return std::static_pointer_cast<const Channels>(kept.channels);
}

RangeFn correct_ranges(EvalContext& c, const Layout& l) {
  const auto channels = kept_channels(c, [&] { return correct_channels(c, l); });
  return stretches<float>(c, l,
                          [channels](std::size_t ch, auto x, auto y) { (*channels)[ch](x, y); });
}

template <class T>
RangeFn canonical_ranges(EvalContext& c, const Layout& l) {
  const auto channels = kept_channels(c, [&] { return canonical_channels<T>(c); });
  return stretches<T>(c, l, [channels](std::size_t ch, auto x, auto y) {
    row_batch_norm<T>(x, (*channels)[ch], y);
  });
}

/// Inference, which is elementwise; empty in training.
RangeFn ranges(EvalContext& c) {
  RangeFn made;
  const Layout l = layout_of(*c.node, c.opset, c.input(0).shape());
  check_parameters(c, l);
  if (training(*c.node, c.opset) || any_narrow(c)) return made;
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float>) {
      if (c.precision == Precision::cr) {
        made = correct_ranges(c, l);
        return;
      }
    }
    made = canonical_ranges<T>(c, l);
  });
  return made;
}

/// All elements of one channel, batch by batch.
template <class T>
std::vector<T> gather(std::span<const T> x, const Layout& l, std::int64_t ch) {
  std::vector<T> row;
  row.reserve(static_cast<std::size_t>(l.batch * l.inner));
  for (std::int64_t n = 0; n < l.batch; ++n) {
    const auto begin = x.begin() + (n * l.channels + ch) * l.inner;
    row.insert(row.end(), begin, begin + l.inner);
  }
  return row;
}

template <class T>
void scatter(const std::vector<T>& row, std::span<T> y, const Layout& l, std::int64_t ch) {
  for (std::int64_t n = 0; n < l.batch; ++n) {
    const auto from = row.begin() + n * l.inner;
    std::copy(from, from + l.inner, y.begin() + (n * l.channels + ch) * l.inner);
  }
}

template <class T>
void normalize_row(const EvalContext& c, std::vector<T>& row, T gamma, T beta) {
  const float epsilon = c.attributes().float_or("epsilon", 1e-5F);
  const std::span<const T> x(row);
  if constexpr (std::is_same_v<T, float>) {
    if (c.precision == Precision::cr) {
      cr_layer_norm(x, {.epsilon = epsilon, .gamma = {&gamma, 1}, .beta = {&beta, 1}}, row);
      return;
    }
  }
  row_layer_norm<T>(x, {.epsilon = T(epsilon), .gamma = {&gamma, 1}, .beta = {&beta, 1}}, row);
}

/// Batch mean and population variance of a channel in double-double.
template <class T>
std::pair<dd, dd> batch_statistics(const std::vector<T>& row) {
  dd sum = 0.0, squares = 0.0;
  for (const T& v : row) sum += dd(v);
  const dd n = static_cast<double>(row.size());
  const dd mean = sum / n;
  for (const T& v : row) squares += (dd(v) - mean) * (dd(v) - mean);
  return {mean, squares / n};
}

void put(EvalContext& c, std::size_t i, std::int64_t ch, const dd& value) {
  if (!c.has_output(i)) return;
  Tensor one = convert(Tensor::scalar<dd>(value), c.output(i).dtype());
  const auto width = static_cast<std::size_t>(size_of(one.dtype()));
  std::memcpy(c.output(i).mutable_raw().data() + static_cast<std::size_t>(ch) * width,
              one.raw().data(), width);
}

void put_statistics(EvalContext& c, std::int64_t ch, const std::pair<dd, dd>& batch) {
  const dd momentum = static_cast<double>(c.attributes().float_or("momentum", 0.9F));
  const auto at = static_cast<std::size_t>(ch);
  const dd running_mean = parameter<dd>(c, 3)[at] * momentum + batch.first * (dd(1.0) - momentum);
  const dd running_var = parameter<dd>(c, 4)[at] * momentum + batch.second * (dd(1.0) - momentum);
  put(c, 1, ch, running_mean);
  put(c, 2, ch, running_var);
  put(c, 3, ch, batch.first);
  put(c, 4, ch, batch.second);
}

template <class T>
void train(EvalContext& c, const Layout& l) {
  const auto scale = parameter<T>(c, 1), bias = parameter<T>(c, 2);
  for (std::int64_t ch = 0; ch < l.channels; ++ch) {
    std::vector<T> row = gather(c.in<T>(0), l, ch);
    put_statistics(c, ch, batch_statistics(row));
    const auto at = static_cast<std::size_t>(ch);
    normalize_row(c, row, scale[at], bias[at]);
    scatter(row, c.out<T>(0), l, ch);
  }
}

void core(EvalContext& c) {
  if (const RangeFn all = ranges(c))
    return parallel_for(0, c.output(0).numel(), kElementGrain, all);
  const Layout l = layout_of(*c.node, c.opset, c.input(0).shape());
  visit_real(c.input(0).dtype(), [&](auto tag) { train<typename decltype(tag)::type>(c, l); });
}

/// Reach of a batch's own statistics: how far its mean, and its variance, may be off.
struct BatchReach {
  double mean = 0, off_mean = 0, variance = 0, off_variance = 0;
};

/// Over n elements with radii r: the mean is off by mean(r) and n + 1 roundings of mean |x|; a
/// deviation d = x - mean by e = r + off_mean + u |d|; the variance by mean(2 |d| e + e^2) and
/// n + 2 roundings of mean (|d| + e)^2.
BatchReach batch_reach(const BoundContext& c, const std::vector<double>& x,
                       const std::vector<double>& r) {
  const auto n = static_cast<double>(x.size());
  BatchReach b;
  double sizes = 0, radii = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    b.mean += x[i] / n;
    sizes += std::fabs(x[i]) / n;
    radii += r[i] / n;
  }
  // The mean and the deviations are taken again in double here: n + 1 of its units.
  const double rounding = (n + 1) * (c.unit + 0x1p-52);
  b.off_mean = outward(radii + rounding * (sizes + radii) + c.tiny);
  double grown = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::fabs(x[i] - b.mean);
    const double e = r[i] + b.off_mean + (c.unit + 0x1p-52) * d;
    b.variance += d * d / n;
    b.off_variance += (2 * d * e + e * e) / n;
    grown += (d + e) * (d + e) / n;
  }
  b.off_variance = outward(b.off_variance + (n + 2) * (c.unit + 0x1p-52) * grown + c.tiny);
  return b;
}

/// Outputs 1 to 4: running mean and variance, those of the batch; each rounded once from a few
/// operations that are far more exact.
void bound_statistics(BoundContext& c, const std::vector<BatchReach>& batches) {
  const double momentum = c.node->attributes.float_or("momentum", 0.9F);
  const double share = std::fabs(1 - momentum);
  for (std::size_t i = 1; i < c.outputs.size(); ++i) {
    if (!c.outputs[i].defined()) continue;
    const auto value = c.outputs[i].data<double>();
    auto radius = new_radius(c, i);
    for (std::size_t ch = 0; ch < radius.size(); ++ch) {
      const BatchReach& b = batches[ch];
      const double off = i % 2 == 1 ? b.off_mean : b.off_variance;
      const double running =
          i < 3 ? std::fabs(momentum) * Radius(c, i + 2)[static_cast<std::int64_t>(ch)] : 0.0;
      radius[ch] = outward((i < 3 ? share : 1.0) * off + running +
                           2 * (c.unit + 0x1p-52) * std::fabs(value[ch]) + c.tiny);
    }
  }
}

/// y = d s + beta with s = gamma / sqrt(w), w = variance + epsilon of the batch: with w off by r_w,
/// (|gamma| + r_gamma) (|d| + e) / sqrt(w - r_w) - |gamma| |d| / sqrt(w) + r_beta, and six
/// roundings of the grown product. No radius when w may reach 0.
void bound_training(BoundContext& c, const Layout& l) {
  const Radius rx(c, 0), r_gamma(c, 1), r_beta(c, 2);
  const auto x = c.inputs[0].data<double>(), y = c.outputs[0].data<double>();
  const auto gamma = c.inputs[1].data<double>();
  std::vector<double> radii(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) radii[i] = rx[static_cast<std::int64_t>(i)];
  const double epsilon = c.node->attributes.float_or("epsilon", 1e-5F);
  std::vector<double> result(x.size());
  std::vector<BatchReach> batches;
  for (std::int64_t ch = 0; ch < l.channels; ++ch) {
    const std::vector<double> row = gather<double>(x, l, ch);
    const std::vector<double> r = gather<double>(radii, l, ch);
    const std::vector<double> out = gather<double>(y, l, ch);
    const BatchReach b = batch_reach(c, row, r);
    const double w = b.variance + epsilon;
    const double r_w = outward(b.off_variance + 2 * (c.unit + 0x1p-52) * (w + b.off_variance));
    if (!(w > 2 * r_w)) return;
    const double size = std::fabs(gamma[static_cast<std::size_t>(ch)]);
    std::vector<double> bound(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double d = std::fabs(row[i] - b.mean);
      const double e = r[i] + b.off_mean + (c.unit + 0x1p-52) * d;
      const double grown = (size + r_gamma[ch]) * (d + e) / std::sqrt(w - r_w);
      const double moved = grown - size * d / std::sqrt(w) + r_beta[ch];
      const double largest = grown + std::fabs(out[i]) + r_beta[ch];
      bound[i] = outward(moved + 6 * (c.unit + 0x1p-52) * largest + 6 * c.tiny);
    }
    scatter<double>(bound, result, l, ch);
    batches.push_back(b);
  }
  std::copy(result.begin(), result.end(), new_radius(c).begin());
  bound_statistics(c, batches);
}

/// |y error| <= |s| (r_x + r_mean) + r_beta + |x - mean| r_s + (5 |x - mean| |s| + |y|) u: what
/// comes in, then the sum var + epsilon, root, quotient, difference, product and sum. With
/// parameters that carry radii, s = gamma / sqrt(w), w = var + epsilon, is off by at most
///   r_s = (|gamma| + r_gamma) / sqrt(w - r_var) - |gamma| / sqrt(w), if w > r_var; else no radius;
/// and |x - mean| and |s| in the other terms grow by their radii.
void bound(BoundContext& c) {
  const Layout l = layout_of(*c.node, c.opset, c.inputs[0].shape());
  if (training(*c.node, c.opset)) return bound_training(c, l);
  const auto x = c.inputs[0].data<double>(), y = c.outputs[0].data<double>();
  const auto scale = c.inputs[1].data<double>(), mean = c.inputs[3].data<double>();
  const auto variance = c.inputs[4].data<double>();
  const double epsilon = c.node->attributes.float_or("epsilon", 1e-5F);
  const Radius rx(c, 0), r_scale(c, 1), r_bias(c, 2), r_mean(c, 3), r_variance(c, 4);
  for (std::int64_t ch = 0; ch < l.channels && !r_variance.exact(); ++ch) {
    if (!(variance[static_cast<std::size_t>(ch)] + epsilon > 2 * r_variance[ch])) return;
  }
  auto out = new_radius(c);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    const std::int64_t channel = k / l.inner % l.channels;
    const auto ch = static_cast<std::size_t>(channel);
    const double w = variance[ch] + epsilon;
    const double exact = std::fabs(scale[ch]) / std::sqrt(w);
    const double slope = r_scale.exact() && r_variance.exact()
                             ? exact
                             : outward((std::fabs(scale[ch]) + r_scale[channel]) /
                                       std::sqrt(w - r_variance[channel]));
    const double moved = rx[k] + r_mean[channel];
    const double away = std::fabs(x[i] - mean[ch]) + moved;
    const double given = slope * moved + r_bias[channel] + away * (slope - exact);
    const double steps = 5.0 * away * slope + std::fabs(y[i]);
    out[i] = outward(given + steps * c.unit * (1.0 + 0x1p-18) + (2.0 + slope) * c.tiny);
  }
}

const RegisterOp registered{{.type = "BatchNormalization",
                             .since = 1,
                             .infer = infer,
                             .eval = with_narrow<core>,
                             .bound = bound,
                             .in_place = true,
                             .elementwise = {1, ranges}}};

}  // namespace
}  // namespace assay::ops::batch_normalization_op
