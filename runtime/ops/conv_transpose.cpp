// ConvTranspose (1, 11): every input adds x * w into the outputs its taps reach.
//
//   y[n][o][p] = sum_{c, t} x[n][c][(p + pad - t * dilation) / stride] * w[c][o][t] + b[o], over
//   the taps where the division is exact
// Weights are [in_channels, out_channels / group, kernel...]. Output sizes: window.h
// (output_padding, output_shape, auto_pad). cr rounds the exact sum, bias included, once. One to
// three spatial axes.
#include "runtime/op.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/dot.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/window.h"

namespace assay::ops::conv_transpose_op {
namespace {

void infer(InferContext& c) { infer_conv(c, true); }

void core(EvalContext& c) {
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ConvArgs<T> args;
    args.shape = read_conv_shape(c.attributes(), c.input(0).shape(), c.input(1).shape(), true);
    args.x = c.in<T>(0).data();
    args.w = c.in<T>(1).data();
    if (c.has_input(2)) {
      if (c.input(2).numel() != args.shape.out_channels) {
        throw Error({.what = "bias of a transposed convolution has the wrong size",
                     .got = describe(c.input(2)),
                     .expected = std::to_string(args.shape.out_channels) + " elements"});
      }
      args.bias = c.in<T>(2).data();
    }
    args.y = c.out<T>(0).data();
    run_conv(args, true, dot_mode(c));
  });
}

void bound(BoundContext& c) {
  const auto at = [](const std::vector<Tensor>& v, std::size_t i) {
    return i < v.size() ? v[i] : Tensor();
  };
  ConvRadiusInputs in;
  in.shape = read_conv_shape(c.node->attributes, c.inputs[0].shape(), c.inputs[1].shape(), true);
  in.transposed = true;
  in.x = c.inputs[0];
  in.w = c.inputs[1];
  in.bias = at(c.inputs, 2);
  in.x_radius = at(c.radii, 0);
  in.w_radius = at(c.radii, 1);
  in.bias_radius = at(c.radii, 2);
  conv_radius(c, in, new_radius(c));
}

/// Every input element meets every weight of its group once.
std::int64_t macs(const InferContext& c) {
  const Shape w = c.input(1).shape();
  return c.input(0).shape().numel() * w.numel(1, w.rank());
}

const RegisterOp registered{{.type = "ConvTranspose",
                             .since = 1,
                             .infer = infer,
                             .eval = with_narrow<core>,
                             .bound = bound,
                             .macs = macs}};

}  // namespace
}  // namespace assay::ops::conv_transpose_op
