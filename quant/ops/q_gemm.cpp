// QGemm: matrix product on codes, with everything that was fused behind it.
//
//   inputs  x codes [..., K], w codes int8 [N, K] (transB = 1), bias float32 [N] (optional),
//   residual codes (optional) y[..., n] = requantize(activation(sum_k (x - z_x) w * x_scale *
//   w_scale[n] + bias[n] ...))
// Attributes: those of integer_form.h. Roundings as the profile says (finish.h, linear_codes.h).
#include "quant/ops/linear_codes.h"
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/parallel.h"

namespace assay::q_gemm_op {
namespace {

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
};

Sizes sizes_of(const Attributes& a, const Shape& x, const Shape& w) {
  if (a.int_or("transB", 1) != 1 || w.rank() != 2 || x.rank() < 1 || x[-1] != w[1]) {
    throw Error({.what = "shapes of a matrix product do not fit",
                 .got = to_string(x) + " and " + to_string(w),
                 .expected = "[..., K] and [N, K] with transB = 1"});
  }
  return {x.numel(0, x.rank() - 1), w[0], w[1]};
}

Shape output_shape(const Shape& x, const Sizes& s) {
  Shape y = x;
  y[-1] = s.n;
  return y;
}

void infer(InferContext& c) {
  const DType y = integer_output_type(c);
  const TensorType &x = c.input(0), &w = c.input(1);
  if (!x.known() || !w.known()) return c.set_output(0, {y, std::nullopt});
  c.set_output(0, y, output_shape(x.shape(), sizes_of(c.attributes(), x.shape(), w.shape())));
}

GemmArgs<float> float_args(const Sizes& s, const Tensor& w) {
  GemmArgs<float> args;
  args.m = s.m;
  args.n = s.n;
  args.k = s.k;
  args.b = w.data<float>().data();
  args.trans_b = true;
  return args;
}

Tensor correct(const Sizes& s, const Shape& y_shape, const Tensor& x, const FloatWeights& w,
               const Tensor& bias) {
  Tensor y(DType::float32, y_shape);
  GemmArgs<float> args = float_args(s, w.w);
  args.a = x.data<float>().data();
  args.out = y.mutable_data<float>().data();
  if (bias.defined()) args.addend = {bias.data<float>().data(), 0, 1};
  gemm_packed(args, DotMode::correct, w.packed);
  return y;
}

void paired(const Sizes& s, const Tensor& x, const Tensor& w, std::int32_t* acc) {
  const auto a = x.data<std::uint8_t>();
  const auto b = w.data<std::int8_t>();
  const auto k = static_cast<std::size_t>(s.k), n = static_cast<std::size_t>(s.n);
  parallel_for(0, s.m, 1, [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      for (std::size_t j = 0; j < n; ++j)
        acc[i * n + j] = dot_s16pair(a.subspan(i * k, k), b.subspan(j * k, k));
    }
  });
}

void eval(EvalContext& c) {
  const IntegerForm form = read_integer_form(c);
  const Sizes s = sizes_of(c.attributes(), c.input(0).shape(), c.input(1).shape());
  LinearProblem p{.form = &form,
                  .x = c.input(0),
                  .w = c.input(1),
                  .bias = c.has_input(2) ? convert(c.input(2), DType::float32) : Tensor(),
                  .residual = c.has_input(3) ? c.input(3) : Tensor(),
                  .y_shape = output_shape(c.input(0).shape(), s),
                  .channels = s.n,
                  .inner = 1,
                  .depthwise = false,
                  .exact = {},
                  .paired = {},
                  .correct = {}};
  if (p.bias.defined() && p.bias.numel() != p.channels)
    throw Error({.what = "bias has the wrong size", .got = describe(p.bias)});
  const auto zero = static_cast<std::int32_t>(form.x.zero_point);
  p.exact = [&](const Tensor& w, std::int32_t* acc) {
    return int_gemm({.m = s.m,
                     .n = s.n,
                     .k = s.k,
                     .a = {p.x.raw().data(), p.x.dtype() == DType::int8, {&zero, 1}},
                     .lda = 0,
                     .b = {w.raw().data(), true, {}},
                     .ldb = 0,
                     .trans_b = true,
                     .out = acc});
  };
  p.paired = [&](const Tensor& x, const Tensor& w, std::uint8_t, std::int32_t* acc) {
    paired(s, x, w, acc);
  };
  p.correct = [&](const Tensor& x) {
    const auto pack = [&](const Tensor& w) {
      return pack_gemm_weights(float_args(s, w), DotMode::correct);
    };
    return correct(s, p.y_shape, x, float_weights(c, form, pack), p.bias);
  };
  IntegerCounts counts;
  IntegerStats* stats = integer_stats();
  store_result(c, run_linear(p, stats != nullptr ? &counts : nullptr));
  if (stats != nullptr) stats->add(*c.node, counts);
}

std::int64_t macs(const InferContext& c) {
  const Sizes s = sizes_of(c.attributes(), c.input(0).shape(), c.input(1).shape());
  return s.m * s.n * s.k;
}

const RegisterOp registered{
    {.type = "QGemm", .domain = assay_domain, .infer = infer, .eval = eval, .macs = macs}};

}  // namespace
}  // namespace assay::q_gemm_op
