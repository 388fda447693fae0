// Resize (10, 11, 13, 18, 19) and Upsample (7, 9): resampling by nearest place, linear or cubic
// interpolation, every coordinate transformation of ONNX, antialias, axes,
// keep_aspect_ratio_policy.
//
// Coordinates and weights are defined in support/resize.h: double arithmetic on the float32 scales,
// weights count as those doubles, the result is the sum of weight * value, rounded once (cr and f32
// agree). nearest copies bits. Output size: floor of the float32 product size * scale, which is
// what other runtimes compute; with sizes given the scale is size / input size. Resize 10 and
// Upsample use i / scale; nearest rounds down, at opset 10 up where the axis shrinks.
#include <cmath>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/interpolate.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::resize_op {
namespace {

using Doubles = std::vector<double>;

std::optional<Doubles> known_doubles(const InferContext& c, std::size_t i) {
  const Tensor* t = c.constant(i);
  return t == nullptr ? std::nullopt : std::optional(to_doubles(*t));
}
std::optional<Doubles> known_doubles(const EvalContext& c, std::size_t i) {
  return to_doubles(c.input(i));
}

bool is_upsample(const Node& n) { return n.op_type == "Upsample"; }

template <class Context>
std::size_t scales_input(const Context& c) {
  return is_upsample(*c.node) || c.opset < 11 ? 1 : 2;
}

/// Scales and sizes as given, empty when absent; nullopt when given but not known.
struct Request {
  Doubles scales;
  Ints sizes;
  Doubles roi;
  Ints axes;
};

template <class Context>
std::optional<Doubles> read_scales(const Context& c) {
  if (is_upsample(*c.node) && c.opset < 9) {
    const auto f = c.attributes().floats_or("scales", {});
    return Doubles(f.begin(), f.end());
  }
  const std::size_t i = scales_input(c);
  return c.has_input(i) ? known_doubles(c, i) : Doubles{};
}

Ints read_axes(const Attributes& a, std::int64_t opset, std::size_t rank) {
  Ints all;
  for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
  if (opset < 18) return all;
  return normalized_axes(a.ints_or("axes", all), static_cast<std::int64_t>(rank));
}

template <class Context>
std::optional<Request> read_request(const Context& c, std::size_t rank) {
  Request r;
  const auto scales = read_scales(c);
  if (!scales) return std::nullopt;
  r.scales = *scales;
  r.axes = read_axes(c.attributes(), c.opset, rank);
  if (scales_input(c) == 2) {
    const IntList sizes = input_ints(c, 3);
    if (sizes.given && !sizes.known) return std::nullopt;
    r.sizes = sizes.values;
    const bool crop =
        c.attributes().string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    const auto roi = crop && c.has_input(1) ? known_doubles(c, 1) : Doubles{};
    if (!roi) return std::nullopt;
    r.roi = *roi;
  }
  if (r.scales.empty() == r.sizes.empty() && !(r.scales.empty() && r.axes.empty()))
    throw Error({.what = "exactly one of scales and sizes must be given"});
  return r;
}

void check_request(const Request& r, bool crop) {
  const std::size_t count = r.axes.size();
  if (!r.sizes.empty()) require_count("sizes", r.sizes, count);
  const bool scales_fit = r.scales.empty() || r.scales.size() == count;
  if (!scales_fit || (crop && r.roi.size() != 2 * count)) {
    throw Error({.what = scales_fit ? "wrong number of roi values" : "wrong number of scales",
                 .got = std::to_string(scales_fit ? r.roi.size() : r.scales.size()),
                 .expected = std::to_string(scales_fit ? 2 * count : count)});
  }
  for (const double s : r.scales) {
    if (!(s > 0.0) || !std::isfinite(s))
      throw Error({.what = "scales must be positive", .got = std::to_string(s)});
  }
  for (const std::int64_t s : r.sizes)
    if (s < 0) throw Error({.what = "negative size", .got = to_text(r.sizes)});
}

std::int64_t scaled_size(std::int64_t in, double scale, double part) {
  const auto s = static_cast<float>(scale);
  const float size = std::floor(static_cast<float>(in) * static_cast<float>(part) * s);
  if (!(size < 0x1p62F)) throw Error({.what = "size out of range", .got = std::to_string(scale)});
  return static_cast<std::int64_t>(size);
}

/// One scale for all axes, chosen among the ratios of the asked sizes.
void keep_aspect(const std::string& policy, const Request& r, std::vector<ResizeAxis>& axes) {
  double scale = 0.0;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    const ResizeAxis& a = axes[static_cast<std::size_t>(r.axes[i])];
    const double own = static_cast<double>(r.sizes[i]) / static_cast<double>(a.in);
    if (i == 0 || (policy == "not_larger" ? own < scale : own > scale)) scale = own;
  }
  for (const std::int64_t i : r.axes) {
    ResizeAxis& a = axes[static_cast<std::size_t>(i)];
    a.scale = scale;
    a.out = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
  }
}

void set_axis(const Request& r, std::size_t i, bool crop, ResizeAxis& a) {
  if (crop) {
    a.roi_begin = r.roi[i];
    a.roi_end = r.roi[i + r.axes.size()];
  }
  if (!r.sizes.empty()) {
    a.out = r.sizes[i];
    if (a.in == 0 && a.out != 0)
      throw Error({.what = "an axis without elements cannot grow", .got = to_text(r.sizes)});
    a.scale = a.in == 0 ? 1.0 : static_cast<double>(a.out) / static_cast<double>(a.in);
    return;
  }
  a.scale = r.scales[i];
  if (a.in >= 0) a.out = scaled_size(a.in, a.scale, crop ? a.roi_end - a.roi_begin : 1.0);
}

/// Sizes and scales per axis; `out` is -1 where the input's size is not known.
std::vector<ResizeAxis> plan_axes(const Attributes& a, const Request& r,
                                  const std::vector<std::int64_t>& dims) {
  const bool crop =
      a.string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  check_request(r, crop);
  std::vector<ResizeAxis> axes;
  for (const std::int64_t d : dims) axes.push_back({.in = d, .out = d});
  bool known = true;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    ResizeAxis& axis = axes[static_cast<std::size_t>(r.axes[i])];
    known = known && axis.in > 0;
    set_axis(r, i, crop, axis);
  }
  const std::string policy = a.string_or("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || r.sizes.empty()) return axes;
  if (policy != "not_larger" && policy != "not_smaller")
    throw Error({.what = "attribute 'keep_aspect_ratio_policy'", .got = "'" + policy + "'"});
  if (known) keep_aspect(policy, r, axes);
  for (const std::int64_t i : r.axes)
    if (!known) axes[static_cast<std::size_t>(i)].out = -1;
  return axes;
}

ResizeRule read_rule(const Node& node, std::int64_t opset) {
  const Attributes& a = node.attributes;
  const std::string mode = a.string_or("mode", "nearest");
  ResizeRule rule;
  if (mode == "linear" || mode == "bilinear") {
    rule.mode = ResizeMode::linear;
  } else if (mode == "cubic") {
    rule.mode = ResizeMode::cubic;
  } else if (mode != "nearest") {
    throw Error({.what = "attribute 'mode'",
                 .got = "'" + mode + "'",
                 .expected = "nearest, linear or cubic"});
  }
  if (is_upsample(node) || opset < 11) {
    rule.coordinates = "asymmetric";
    rule.nearest = is_upsample(node) ? "floor" : "simple";
    return rule;
  }
  rule.coordinates = a.string_or("coordinate_transformation_mode", rule.coordinates);
  rule.nearest = a.string_or("nearest_mode", rule.nearest);
  rule.cubic_a = static_cast<double>(a.float_or("cubic_coeff_a", -0.75F));
  rule.exclude_outside = a.int_or("exclude_outside", 0) != 0;
  rule.antialias = opset >= 18 && a.int_or("antialias", 0) != 0;
  return rule;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  std::vector<std::int64_t> dims(x.dims->size(), -1);
  if (const auto request = read_request(c, dims.size())) {
    dims.clear();
    for (const ResizeAxis& a : plan_axes(c.attributes(), *request, *x.dims))
      dims.push_back(a.in == 0 ? 0 : a.out);
  }
  c.set_output(0, {x.dtype, dims});
}

std::vector<std::vector<Taps1d>> all_taps(const Node& node, std::int64_t opset, const Request& r,
                                          const Shape& shape) {
  const ResizeRule rule = read_rule(node, opset);
  std::vector<std::vector<Taps1d>> taps;
  for (const ResizeAxis& a : plan_axes(node.attributes, r, shape.vec())) {
    const bool named = std::find(r.axes.begin(), r.axes.end(),
                                 static_cast<std::int64_t>(taps.size())) != r.axes.end();
    std::vector<Taps1d> same;
    for (std::int64_t i = 0; i < a.in && !named; ++i) same.push_back({{i, 1.0}});
    taps.push_back(named ? resize_taps(rule, a) : std::move(same));
  }
  return taps;
}

void copy_nearest(const Tensor& x, const std::vector<std::vector<Taps1d>>& taps, double outside,
                  Tensor& y) {
  const Tensor fill = convert(Tensor::scalar<double>(outside), x.dtype());
  std::vector<AxisTable> tables;
  for (const auto& axis : taps) {
    AxisTable table;
    for (const Taps1d& t : axis) table.push_back(t.empty() ? kFill : t[0].index);
    tables.push_back(std::move(table));
  }
  copy_by_tables(x, tables, element_at(fill, 0), y);
}

double outside_value(const Attributes& a) {
  return static_cast<double>(a.float_or("extrapolation_value", 0.0F));
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  if (c.output(0).numel() == 0) return;
  const auto request = read_request(c, static_cast<std::size_t>(x.shape().rank()));
  const auto taps = all_taps(*c.node, c.opset, *request, x.shape());
  const double outside = outside_value(c.attributes());
  if (read_rule(*c.node, c.opset).mode == ResizeMode::nearest)
    return copy_nearest(x, taps, outside, c.output(0));
  interpolate(x, taps, outside, c.output(0));
}

void bound(BoundContext& c) {
  EvalContext e;
  e.node = c.node;
  e.opset = c.opset;
  e.inputs = c.inputs;
  if (e.inputs.size() > 3 && e.inputs[3].defined())
    e.inputs[3] = convert(e.inputs[3], DType::int64);
  const Shape& shape = c.inputs[0].shape();
  const auto request = read_request(e, static_cast<std::size_t>(shape.rank()));
  bound_exact(c);
  if (c.outputs[0].numel() == 0) return;
  auto taps = all_taps(*c.node, c.opset, *request, shape);
  if (read_rule(*c.node, c.opset).mode != ResizeMode::nearest)
    return interpolate_radius(c, std::move(taps));
  if (!c.radii.empty() && c.radii[0].defined()) copy_nearest(c.radii[0], taps, 0.0, c.result[0]);
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Resize", .since = 10, .infer = infer, .eval = eval, .bound = bound},
    {.type = "Upsample", .since = 7, .infer = infer, .eval = eval, .bound = bound}}};

}  // namespace
}  // namespace assay::ops::resize_op
