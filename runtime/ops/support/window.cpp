#include "runtime/ops/support/window.h"

#include <algorithm>

namespace assay::ops {
namespace {

Sizes read_sizes(const Attributes& attributes, const char* name, std::size_t count,
                 std::int64_t missing) {
  Sizes values = attributes.ints_or(name, Sizes(count, missing));
  if (values.size() != count) {
    throw Error({.what = std::string("attribute '") + name + "' has the wrong length",
                 .got = std::to_string(values.size()),
                 .expected = std::to_string(count)});
  }
  return values;
}

void require_positive(const Sizes& values, const char* name) {
  for (const std::int64_t v : values) {
    if (v >= 1 || v == -1) continue;
    throw Error({.what = std::string(name) + " must be positive", .got = std::to_string(v)});
  }
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

AxisPlan same_padding(const Window& w, std::size_t axis, std::int64_t in) {
  AxisPlan plan;
  plan.out = ceil_div(in, w.strides[axis]);
  const std::int64_t total =
      std::max<std::int64_t>(0, (plan.out - 1) * w.strides[axis] + w.extent(axis) - in);
  const std::int64_t less = total / 2;
  plan.pad_begin = w.auto_pad == "SAME_UPPER" ? less : total - less;
  plan.pad_end = total - plan.pad_begin;
  return plan;
}

}  // namespace

Window read_window(const Attributes& attributes, const Sizes& kernel) {
  const std::size_t rank = kernel.size();
  Window w;
  w.kernel = kernel;
  w.strides = read_sizes(attributes, "strides", rank, 1);
  w.dilations = read_sizes(attributes, "dilations", rank, 1);
  const Sizes pads = read_sizes(attributes, "pads", 2 * rank, 0);
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  w.pads_begin.assign(pads.begin(), half);
  w.pads_end.assign(half, pads.end());
  w.auto_pad = attributes.string_or("auto_pad", "NOTSET");
  if (w.auto_pad.empty()) w.auto_pad = "NOTSET";
  w.ceil_mode = attributes.int_or("ceil_mode", 0) != 0;
  require_positive(w.kernel, "kernel size");
  require_positive(w.strides, "stride");
  require_positive(w.dilations, "dilation");
  if (w.auto_pad != "NOTSET" && w.auto_pad != "VALID" && w.auto_pad != "SAME_UPPER" &&
      w.auto_pad != "SAME_LOWER") {
    throw Error({.what = "unknown auto_pad",
                 .got = "'" + w.auto_pad + "'",
                 .expected = "NOTSET, VALID, SAME_UPPER or SAME_LOWER"});
  }
  return w;
}

AxisPlan plan_axis(const Window& w, std::size_t axis, std::int64_t in) {
  if (in < 0 || w.kernel[axis] < 0) return {};
  if (w.auto_pad == "SAME_UPPER" || w.auto_pad == "SAME_LOWER") return same_padding(w, axis, in);
  AxisPlan plan;
  if (w.auto_pad == "NOTSET") {
    plan.pad_begin = w.pads_begin[axis];
    plan.pad_end = w.pads_end[axis];
  }
  const std::int64_t room = in + plan.pad_begin + plan.pad_end - w.extent(axis);
  if (room < 0) {
    plan.out = 0;
    return plan;
  }
  const std::int64_t stride = w.strides[axis];
  plan.out = (w.ceil_mode ? ceil_div(room, stride) : room / stride) + 1;
  if (w.ceil_mode && (plan.out - 1) * stride >= in + plan.pad_begin) --plan.out;
  return plan;
}

AxisPlan plan_transposed_axis(const Window& w, std::size_t axis, std::int64_t in,
                              const Sizes& output_padding, const Sizes& output_shape) {
  if (in < 0 || w.kernel[axis] < 0) return {};
  const std::int64_t extra = output_padding.empty() ? 0 : output_padding[axis];
  const std::int64_t full = in == 0 ? 0 : w.strides[axis] * (in - 1) + extra + w.extent(axis);
  const bool same = w.auto_pad == "SAME_UPPER" || w.auto_pad == "SAME_LOWER";
  AxisPlan plan;
  if (!output_shape.empty() || same) {
    plan.out = output_shape.empty() ? in * w.strides[axis] : output_shape[axis];
    // An output larger than the full result is filled with zeros at its end.
    const std::int64_t total = std::max<std::int64_t>(0, full - plan.out);
    plan.pad_begin = w.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    plan.pad_end = total - plan.pad_begin;
    return plan;
  }
  if (w.auto_pad == "NOTSET") {
    plan.pad_begin = w.pads_begin[axis];
    plan.pad_end = w.pads_end[axis];
  }
  plan.out = std::max<std::int64_t>(0, full - plan.pad_begin - plan.pad_end);
  return plan;
}

}  // namespace assay::ops
