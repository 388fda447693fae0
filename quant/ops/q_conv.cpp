// QConv: convolution on codes, with everything that was fused behind it.
//
//   inputs  x codes (uint8 or int8), w codes int8 [O, I/g, ...], bias float32 [O] (optional),
//   residual codes (optional) y = requantize(activation(mid(conv(x - z_x, w) * x_scale * w_scale +
//   bias) + (residual - z_r) * residual_scale))
// Attributes: those of Conv and those of integer_form.h. Padding is the real zero, that is the code
// z_x. What each rounding is, the profile says (finish.h, linear_codes.h).
#include "quant/ops/linear_codes.h"
#include "runtime/numeric/conv.h"

namespace assay::q_conv_op {
namespace {

struct Sizes {
  std::vector<std::int64_t> strides, dilations, pads_begin, pads_end;
};

Sizes read_sizes(const Attributes& a, std::size_t rank) {
  const auto ones = std::vector<std::int64_t>(rank, 1);
  const auto pads = a.ints_or("pads", std::vector<std::int64_t>(2 * rank, 0));
  Sizes s{a.ints_or("strides", ones), a.ints_or("dilations", ones), {}, {}};
  if (s.strides.size() != rank || s.dilations.size() != rank || pads.size() != 2 * rank) {
    throw Error({.what = "strides, dilations or pads have the wrong length"});
  }
  s.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  s.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  return s;
}

ConvShape shape_of(const Attributes& a, const Shape& x, const Shape& w) {
  const std::int64_t group = a.int_or("group", 1);
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank() || group < 1 || w[0] % group != 0 ||
      x[1] != w[1] * group) {
    throw Error({.what = "shapes of a convolution do not fit",
                 .got = to_string(x) + " and " + to_string(w)});
  }
  const Sizes s = read_sizes(a, static_cast<std::size_t>(x.rank() - 2));
  return conv_shape({.x_shape = x.dims(),
                     .w_shape = w.dims(),
                     .strides = s.strides,
                     .dilations = s.dilations,
                     .pads_begin = s.pads_begin,
                     .pads_end = s.pads_end,
                     .output_padding = {},
                     .groups = group});
}

Shape output_shape(const ConvShape& s, std::int64_t rank) {
  std::vector<std::int64_t> dims{s.batch, s.out_channels};
  for (std::int64_t i = 5 - rank; i < 3; ++i) dims.push_back(s.out[static_cast<std::size_t>(i)]);
  return Shape(dims);
}

void infer(InferContext& c) {
  const DType y = integer_output_type(c);
  const TensorType &x = c.input(0), &w = c.input(1);
  if (!x.known() || !w.known()) return c.set_output(0, {y, std::nullopt});
  c.set_output(0, y,
               output_shape(shape_of(c.attributes(), x.shape(), w.shape()), x.shape().rank()));
}

IntReport exact_sums(const ConvShape& s, const Tensor& x, std::int32_t zero, const Tensor& w,
                     std::int32_t* acc) {
  return int_conv({.shape = s,
                   .x = {x.raw().data(), x.dtype() == DType::int8, {&zero, 1}},
                   .w = {w.raw().data(), true, {}},
                   .y = acc});
}

Tensor correct(const ConvShape& s, const Shape& y_shape, const Tensor& x, const FloatWeights& w,
               const Tensor& bias) {
  Tensor y(DType::float32, y_shape);
  ConvArgs<float> args{.shape = s,
                       .x = x.data<float>().data(),
                       .w = w.w.data<float>().data(),
                       .bias = bias.defined() ? bias.data<float>().data() : nullptr,
                       .residual = nullptr,
                       .y = y.mutable_data<float>().data()};
  conv_packed(args, DotMode::correct, w.packed);
  return y;
}

Tensor float32_input(const EvalContext& c, std::size_t i) {
  return c.has_input(i) ? convert(c.input(i), DType::float32) : Tensor();
}

void eval(EvalContext& c) {
  const IntegerForm form = read_integer_form(c);
  const ConvShape s = shape_of(c.attributes(), c.input(0).shape(), c.input(1).shape());
  LinearProblem p{.form = &form,
                  .x = c.input(0),
                  .w = c.input(1),
                  .bias = float32_input(c, 2),
                  .residual = c.has_input(3) ? c.input(3) : Tensor(),
                  .y_shape = output_shape(s, c.input(0).shape().rank()),
                  .channels = s.out_channels,
                  .inner = s.out_spatial(),
                  .depthwise = s.in_channels == s.groups,
                  .exact = {},
                  .paired = {},
                  .correct = {}};
  if (p.bias.defined() && p.bias.numel() != p.channels)
    throw Error({.what = "bias has the wrong size", .got = describe(p.bias)});
  p.exact = [&](const Tensor& w, std::int32_t* acc) {
    return exact_sums(s, p.x, static_cast<std::int32_t>(form.x.zero_point), w, acc);
  };
  p.paired = [&](const Tensor& x, const Tensor& w, std::uint8_t pad, std::int32_t* acc) {
    int_conv_s16pair(
        {.shape = s, .x = {x.raw().data(), false, {}}, .w = {w.raw().data(), true, {}}, .y = acc},
        pad);
  };
  p.correct = [&](const Tensor& x) {
    const auto pack = [&](const Tensor& w) {
      return pack_conv_weights(s, w.data<float>().data(), DotMode::correct);
    };
    return correct(s, p.y_shape, x, float_weights(c, form, pack), p.bias);
  };
  IntegerCounts counts;
  IntegerStats* stats = integer_stats();
  store_result(c, run_linear(p, stats != nullptr ? &counts : nullptr));
  if (stats != nullptr) stats->add(*c.node, counts);
}

std::int64_t macs(const InferContext& c) {
  const ConvShape s = shape_of(c.attributes(), c.input(0).shape(), c.input(1).shape());
  return s.batch * s.out_channels * s.out_spatial() * dot_length(s);
}

const RegisterOp registered{
    {.type = "QConv", .domain = assay_domain, .infer = infer, .eval = eval, .macs = macs}};

}  // namespace
}  // namespace assay::q_conv_op
