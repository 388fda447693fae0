#include "runtime/ops/support/resize.h"

#include <algorithm>
#include <cmath>

namespace assay::ops {
namespace {

[[noreturn]] void unknown_name(const char* attribute, const std::string& got) {
  throw Error({.what = "unknown value of an attribute",
               .where = std::string("attribute '") + attribute + "'",
               .got = "'" + got + "'"});
}

double coordinate(const std::string& mode, const ResizeAxis& a, std::int64_t position) {
  const auto i = static_cast<double>(position);
  const auto n = static_cast<double>(a.in);
  const double length = a.scale * n;
  if (mode == "half_pixel") return (i + 0.5) / a.scale - 0.5;
  if (mode == "asymmetric") return i / a.scale;
  if (mode == "align_corners") return length == 1.0 ? 0.0 : i * (n - 1.0) / (length - 1.0);
  if (mode == "pytorch_half_pixel") return length == 1.0 ? -0.5 : (i + 0.5) / a.scale - 0.5;
  if (mode == "tf_half_pixel_for_nn") return (i + 0.5) / a.scale;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(a.out) / length;
    return n / 2.0 * (1.0 - adjustment) + (i + 0.5) / a.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const double part = a.roi_end - a.roi_begin;
    const double start = a.roi_begin * (n - 1.0);
    const double crop = a.out == 1 ? part * (n - 1.0) / 2.0
                                   : i * part * (n - 1.0) / (static_cast<double>(a.out) - 1.0);
    return start + crop;
  }
  unknown_name("coordinate_transformation_mode", mode);
}

std::int64_t nearest_index(const ResizeRule& rule, const ResizeAxis& a, double x) {
  const double floor = std::floor(x);
  double at = 0.0;
  if (rule.nearest == "round_prefer_floor") {
    at = std::ceil(x - 0.5);
  } else if (rule.nearest == "round_prefer_ceil") {
    at = std::floor(x + 0.5);
  } else if (rule.nearest == "floor") {
    at = floor;
  } else if (rule.nearest == "ceil") {
    at = std::ceil(x);
  } else if (rule.nearest == "simple") {  // opset 10: upwards when the axis shrinks
    at = a.scale < 1.0 ? std::ceil(x) : floor;
  } else {
    unknown_name("nearest_mode", rule.nearest);
  }
  return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(a.in - 1)));
}

double linear_kernel(double x) { return std::max(0.0, 1.0 - std::fabs(x)); }

double cubic_kernel(double signed_x, double a) {
  const double x = std::fabs(signed_x);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
  return 0.0;
}

/// Taps around x. Shrinking with antialias stretches the kernel by 1 / scale and divides the
/// weights by their sum.
Taps1d kernel_taps(const ResizeRule& rule, const ResizeAxis& a, double x) {
  const bool cubic = rule.mode == ResizeMode::cubic;
  const double squeeze = rule.antialias ? std::min(a.scale, 1.0) : 1.0;
  const double reach = (cubic ? 2.0 : 1.0) / squeeze;
  const double base = std::floor(x);
  const double ratio = x - base;
  Taps1d taps;
  double sum = 0.0;
  for (double i = std::floor(-reach) + 1.0; i <= std::ceil(reach); i += 1.0) {
    const double at = (i - ratio) * squeeze;
    const double weight = cubic ? cubic_kernel(at, rule.cubic_a) : linear_kernel(at);
    sum += weight;
    taps.push_back({static_cast<std::int64_t>(base + i), weight});
  }
  if (squeeze != 1.0)
    for (Tap& t : taps) t.weight /= sum;
  return taps;
}

/// Border, exclude_outside, and taps that fall on the same place.
Taps1d inside(const ResizeRule& rule, const ResizeAxis& a, const Taps1d& taps) {
  Taps1d out;
  double sum = 0.0;
  bool dropped = false;
  for (Tap t : taps) {
    const bool outside = t.index < 0 || t.index >= a.in;
    if (outside && rule.exclude_outside) {
      dropped = true;
      continue;
    }
    sum += t.weight;
    t.index = std::clamp<std::int64_t>(t.index, 0, a.in - 1);
    if (t.weight == 0.0) continue;
    if (!out.empty() && out.back().index == t.index) {
      out.back().weight += t.weight;
    } else {
      out.push_back(t);
    }
  }
  if (dropped)
    for (Tap& t : out) t.weight /= sum;
  return out;
}

Taps1d taps_at(const ResizeRule& rule, const ResizeAxis& a, std::int64_t position) {
  const double x = coordinate(rule.coordinates, a, position);
  const bool crop = rule.coordinates == "tf_crop_and_resize";
  if (crop && !(x >= 0.0 && x <= static_cast<double>(a.in - 1))) return {};
  if (!std::isfinite(x) || std::fabs(x) > 0x1p52)
    throw Error({.what = "a coordinate of the input is not finite", .got = std::to_string(x)});
  if (rule.mode == ResizeMode::nearest) return {{nearest_index(rule, a, x), 1.0}};
  return inside(rule, a, kernel_taps(rule, a, x));
}

}  // namespace

std::vector<Taps1d> resize_taps(const ResizeRule& rule, const ResizeAxis& axis) {
  std::vector<Taps1d> all;
  all.reserve(static_cast<std::size_t>(axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) all.push_back(taps_at(rule, axis, i));
  return all;
}

bool is_identity(const std::vector<Taps1d>& taps, std::int64_t in) {
  if (static_cast<std::int64_t>(taps.size()) != in) return false;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const Taps1d& t = taps[i];
    if (t.size() != 1 || t[0].weight != 1.0 || t[0].index != static_cast<std::int64_t>(i))
      return false;
  }
  return true;
}

}  // namespace assay::ops
