// QLinearConv: y = clamp(rhe((sum (x - z_x)(w - z_w) + b) * x_scale * w_scale / y_scale) + z_y).
//
// The int32 bias has, by definition, the scale x_scale * w_scale and zero point 0. The sum is exact
// (wrapped to int32 as every implementation does), the scaled value is real and rounded once.
// Weights have one scale or one per output channel.
#include "runtime/ops/support/int_conv_op.h"
#include "runtime/ops/support/qlinear.h"
#include "runtime/ops/support/run_op.h"

namespace assay::ops::q_linear_conv_op {
namespace {

void infer(InferContext& c) {
  const DType type = code_type_of(c, 7, DType::uint8);
  const TensorType x{DType::float32, c.input(0).dims}, w{DType::float32, c.input(3).dims};
  c.set_output(0, {type, infer_standard("Conv", c.attributes(), {x, w}).dims});
}

void eval(EvalContext& c) {
  const Affine x = read_affine(c, 1, 2), y = read_affine(c, 6, 7);
  const std::int64_t channels = c.input(3).shape()[0];
  const ChannelAffine w = read_channel_affine(c, 4, 5, channels);
  const Tensor sums = run_int_conv(
      c.attributes(),
      {.x = c.input(0), .w = c.input(3), .x_zero = x.zero_point, .w_zeros = w.zero_points});
  const auto acc = sums.data<std::int32_t>();
  const auto bias = c.has_input(8) ? to_ints(c.input(8))
                                   : std::vector<std::int64_t>(static_cast<std::size_t>(channels));
  if (static_cast<std::int64_t>(bias.size()) != channels)
    throw Error({.what = "bias has the wrong size", .got = describe(c.input(8))});
  const std::int64_t inner = sums.shape().numel(2, sums.shape().rank());
  const DType type = c.has_input(7) ? c.input(7).dtype() : DType::uint8;
  const CodeRange range = code_range(type);
  c.outputs[0] = fill_codes(type, sums.shape(), [&](std::size_t i) {
    const std::int64_t channel = static_cast<std::int64_t>(i) / inner % channels;
    const auto sum = static_cast<double>(acc[i] + bias[static_cast<std::size_t>(channel)]);
    return code_of(dd(sum) * dd(x.scale * w.scale(channel)) / dd(y.scale), y.zero_point, range);
  });
}

const RegisterOp registered{{.type = "QLinearConv", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::q_linear_conv_op
