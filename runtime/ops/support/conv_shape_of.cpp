// The geometry of Conv and ConvTranspose nodes: attributes and shapes to ConvShape, and shape
// inference (window.h).
#include <algorithm>

#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/window.h"

namespace assay::ops {
namespace {

Sizes spatial(std::span<const std::int64_t> dims) { return {dims.begin() + 2, dims.end()}; }

/// kernel_shape when given must agree with the weight.
Sizes kernel_sizes(const Attributes& attributes, std::span<const std::int64_t> w) {
  Sizes kernel = spatial(w);
  const Sizes stated = attributes.ints_or("kernel_shape", kernel);
  bool fits = stated.size() == kernel.size();
  for (std::size_t i = 0; fits && i < kernel.size(); ++i) {
    if (kernel[i] < 0) kernel[i] = stated[i];
    fits = kernel[i] == stated[i];
  }
  if (fits) return kernel;
  throw Error({.what = "attribute 'kernel_shape' differs from the weight",
               .got = to_string(Shape(stated)),
               .expected = to_string(Shape(kernel))});
}

void check_ranks(std::span<const std::int64_t> x, std::span<const std::int64_t> w) {
  if (x.size() == w.size() && x.size() >= 3 && x.size() <= 5) return;
  throw Error({.what = "convolution needs input and weight of one rank, 3 to 5",
               .got = "input of rank " + std::to_string(x.size()) + ", weight of rank " +
                      std::to_string(w.size()),
               .kind = x.size() == w.size() ? ErrorKind::unsupported : ErrorKind::bad_input});
}

void check_channels(const Shape& x, const Shape& w, std::int64_t groups, bool transposed) {
  const std::int64_t expected = transposed ? w[0] : w[1] * groups;
  if (groups >= 1 && x[1] == expected && w[0] % groups == 0) return;
  throw Error({.what = "channels of input, weight and group do not fit",
               .got = "input " + to_string(x) + ", weight " + to_string(w) + ", group " +
                      std::to_string(groups),
               .expected = "an input with " + std::to_string(expected) + " channels"});
}

void put_axis(ConvShape& s, const Window& w, std::size_t axis, std::int64_t in,
              const AxisPlan& plan) {
  const std::size_t to = 3 - w.rank() + axis;
  s.in[to] = in;
  s.kernel[to] = w.kernel[axis];
  s.out[to] = plan.out;
  s.stride[to] = w.strides[axis];
  s.dilation[to] = w.dilations[axis];
  s.pad[to] = plan.pad_begin;
}

AxisPlan plan_conv_axis(const Attributes& attributes, const Window& w, std::size_t axis,
                        std::int64_t in, bool transposed) {
  if (!transposed) return plan_axis(w, axis, in);
  const Sizes padding = attributes.ints_or("output_padding", {});
  Sizes shape = attributes.ints_or("output_shape", {});
  if (shape.size() == w.rank() + 2) shape.erase(shape.begin(), shape.begin() + 2);
  const auto fits = [&](const Sizes& s) { return s.empty() || s.size() == w.rank(); };
  if (!fits(padding) || !fits(shape)) {
    throw Error({.what = "output_padding or output_shape has the wrong length",
                 .expected = std::to_string(w.rank())});
  }
  return plan_transposed_axis(w, axis, in, padding, shape);
}

}  // namespace

ConvShape read_conv_shape(const Attributes& attributes, const Shape& x, const Shape& w,
                          bool transposed) {
  check_ranks(x.dims(), w.dims());
  Attributes plain = attributes;
  plain.erase("ceil_mode");
  const Window window = read_window(plain, kernel_sizes(attributes, w.dims()));
  ConvShape s;
  s.batch = x[0];
  s.in_channels = x[1];
  s.groups = attributes.int_or("group", 1);
  check_channels(x, w, s.groups, transposed);
  s.out_channels = transposed ? w[1] * s.groups : w[0];
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const std::int64_t in = x[static_cast<std::int64_t>(axis) + 2];
    put_axis(s, window, axis, in, plan_conv_axis(attributes, window, axis, in, transposed));
  }
  return s;
}

void infer_conv(InferContext& c, bool transposed) {
  require_dtype(c, 0, float_type, "a float type");
  require_same_dtype(c, 0, 1);
  if (!c.input(0).dims || !c.input(1).dims) return;
  const Sizes& x = *c.input(0).dims;
  const Sizes& w = *c.input(1).dims;
  check_ranks(x, w);
  const std::int64_t groups = c.attributes().int_or("group", 1);
  if (c.input(0).known() && c.input(1).known())
    check_channels(Shape(x), Shape(w), groups, transposed);
  const Window window = read_window(c.attributes(), kernel_sizes(c.attributes(), w));
  Sizes out{x[0], transposed ? (w[1] < 0 ? -1 : w[1] * groups) : w[0]};
  for (std::size_t axis = 0; axis < window.rank(); ++axis)
    out.push_back(plan_conv_axis(c.attributes(), window, axis, x[axis + 2], transposed).out);
  c.set_output(0, {c.input(0).dtype, out});
}

}  // namespace assay::ops
