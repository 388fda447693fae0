// Linear operators as terms of a normal form: signature, layout of the weights.
#include "validation/certificate/linear_term.h"

#include <fmt/format.h>

namespace assay {
namespace {

std::string list(const std::vector<std::int64_t>& v) {
  std::string text;
  for (const std::int64_t x : v) text += std::to_string(x) + ",";
  return text;
}

Tensor transposed(const Tensor& w) {
  const std::int64_t rows = w.shape()[0], columns = w.shape()[1];
  return visit_dtype(w.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor t(w.dtype(), Shape{columns, rows});
    const auto from = w.data<T>();
    auto to = t.mutable_data<T>();
    for (std::int64_t i = 0; i < w.numel(); ++i)
      to[static_cast<std::size_t>(i % columns * rows + i / columns)] =
          from[static_cast<std::size_t>(i)];
    return t;
  });
}

}  // namespace

bool is_linear(const Node& n) {
  return n.is("Conv") || n.is("ConvTranspose") || n.is("Gemm") || n.is("MatMul");
}

std::string linear_signature(const Node& n, const Shape& w,
                             const std::vector<std::int64_t>& more_pads) {
  const Attributes& a = n.attributes;
  const auto spatial = static_cast<std::size_t>(std::max<std::int64_t>(w.rank() - 2, 0));
  const std::vector<std::int64_t> ones(spatial, 1);
  std::vector<std::int64_t> pads = a.ints_or("pads", std::vector<std::int64_t>(2 * spatial, 0));
  for (std::size_t i = 0; i < more_pads.size() && i < pads.size(); ++i) pads[i] += more_pads[i];
  std::string text = fmt::format("{} group={} strides={} dilations={} pads={} auto_pad={}",
                                 n.op_type, a.int_or("group", 1), list(a.ints_or("strides", ones)),
                                 list(a.ints_or("dilations", ones)), list(pads),
                                 a.string_or("auto_pad", "NOTSET"));
  if (n.op_type == "ConvTranspose")
    text += " out=" + list(a.ints_or("output_padding", std::vector<std::int64_t>(spatial, 0))) +
            list(a.ints_or("output_shape", {}));
  return text + " w=" + to_string(w);
}

LinearTerm linear_term(const Node& n, const Tensor& w, const std::vector<std::int64_t>& more_pads) {
  LinearTerm t;
  t.weights = w;
  t.groups = n.attributes.int_or("group", 1);
  if (n.is("Conv") || n.is("ConvTranspose")) {
    t.channel_axis = n.is("Conv") ? 0 : 1;
    t.signature = linear_signature(n, w.shape(), more_pads);
    return t;
  }
  t.channel_axis = 1;
  if (n.is("Gemm") && n.attributes.int_or("transB", 0) != 0) t.weights = transposed(w);
  t.signature = "MatMul w=" + to_string(t.weights.shape());
  const float alpha = n.is("Gemm") ? n.attributes.float_or("alpha", 1) : 1.0F;
  const bool flipped = n.is("Gemm") && n.attributes.int_or("transA", 0) != 0;
  if (alpha != 1.0F || flipped) t.signature += fmt::format(" alpha={:a} transA={}", alpha, flipped);
  return t;
}

std::int64_t weights_per_channel(const LinearTerm& t) {
  const auto channels = static_cast<std::int64_t>(t.coeff.size());
  return channels == 0 ? 0 : t.weights.numel() / channels;
}

std::int64_t weight_index(const LinearTerm& t, std::int64_t channel, std::int64_t i) {
  const Shape& s = t.weights.shape();
  const std::int64_t inner = s.numel(t.channel_axis + 1, s.rank());
  const std::int64_t along = s[t.channel_axis];
  // ConvTranspose: the input channels of one group are consecutive on axis 0.
  const std::int64_t group = t.channel_axis == 0 ? 0 : channel / along;
  const std::int64_t rows = t.channel_axis == 0 ? 1 : s.numel(0, t.channel_axis) / t.groups;
  return ((group * rows + i / inner) * along + channel % along) * inner + i % inner;
}

std::int64_t input_channel(const LinearTerm& t, std::int64_t channel, std::int64_t i) {
  const Shape& s = t.weights.shape();
  const std::int64_t inner = s.numel(2, s.rank());
  if (t.channel_axis == 0) {
    const std::int64_t per_group = static_cast<std::int64_t>(t.coeff.size()) / t.groups;
    return channel / per_group * s[1] + i / inner;
  }
  return channel / s[1] * (s[0] / t.groups) + i / inner;
}

Real weight_factor(const LinearTerm& t, std::int64_t channel, std::int64_t i) {
  const Real& out = t.coeff[static_cast<std::size_t>(channel)];
  if (t.input_coeff.empty()) return out;
  return out * t.input_coeff[static_cast<std::size_t>(input_channel(t, channel, i))];
}

}  // namespace assay
