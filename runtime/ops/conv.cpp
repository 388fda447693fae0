// Conv (since 1): y[n][o][p] = sum_{c, t} x[n][c][p * stride - pad + t * dilation] * w[o][c][t] +
// b[o].
//
// One to three spatial axes, groups, dilation, any padding. Padding taps do not take part, so no 0
// * inf arises. cr rounds the exact sum, bias included, once. Constant weights are packed once per
// node.
#include "runtime/op.h"
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/dot.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/window.h"

namespace assay::ops::conv_op {
namespace {

void infer(InferContext& c) { infer_conv(c, false); }

template <class T>
void run(EvalContext& c, const ConvArgs<T>& args) {
  const DotMode mode = dot_mode(c);
  if constexpr (!std::is_same_v<T, dd>) {
    if (c.is_constant(1) && c.state != nullptr) {
      const auto make = [&] { return pack_conv_weights(args.shape, args.w, mode); };
      // float16 weights are widened anew in each run and conv_packed goes back to args.w, which is
      // then this run's copy.
      return conv_packed(args, mode, c.cached<PackedWeights>(make));
    }
  }
  run_conv(args, false, mode);
}

void core(EvalContext& c) {
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ConvArgs<T> args;
    args.shape = read_conv_shape(c.attributes(), c.input(0).shape(), c.input(1).shape(), false);
    args.x = c.in<T>(0).data();
    args.w = c.in<T>(1).data();
    if (c.has_input(2)) {
      if (c.input(2).numel() != args.shape.out_channels) {
        throw Error({.what = "bias of a convolution has the wrong size",
                     .got = describe(c.input(2)),
                     .expected = std::to_string(args.shape.out_channels) + " elements"});
      }
      args.bias = c.in<T>(2).data();
    }
    args.y = c.out<T>(0).data();
    args.tail = c.tail;
    run(c, args);
  });
}

void bound(BoundContext& c) {
  ConvRadiusInputs in;
  in.shape = read_conv_shape(c.node->attributes, c.inputs[0].shape(), c.inputs[1].shape(), false);
  const auto at = [](const std::vector<Tensor>& v, std::size_t i) {
    return i < v.size() ? v[i] : Tensor();
  };
  in.x = c.inputs[0];
  in.w = c.inputs[1];
  in.bias = at(c.inputs, 2);
  in.x_radius = at(c.radii, 0);
  in.w_radius = at(c.radii, 1);
  in.bias_radius = at(c.radii, 2);
  conv_radius(c, in, new_radius(c));
}

std::int64_t macs(const InferContext& c) {
  const ConvShape s =
      read_conv_shape(c.attributes(), c.input(0).shape(), c.input(1).shape(), false);
  return c.outputs[0].shape().numel() * dot_length(s);
}

const RegisterOp registered{{.type = "Conv",
                             .since = 1,
                             .infer = infer,
                             .eval = with_narrow<core>,
                             .bound = bound,
                             .macs = macs,
                             .takes_tail = true}};

}  // namespace
}  // namespace assay::ops::conv_op
