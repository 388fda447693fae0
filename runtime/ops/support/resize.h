// Resampling along single axes: where an output position reads (Resize, Upsample).
//
// Coordinates, for output position i of an axis with n input and m output positions, scale s and
// s * n = the output size before rounding:
//   half_pixel            (i + 0.5) / s - 0.5
//   half_pixel_symmetric  n / 2 * (1 - m / (s n)) + (i + 0.5) / s - 0.5
//   pytorch_half_pixel    half_pixel, or -0.5 when s n is 1
//   align_corners         i (n - 1) / (s n - 1), or 0 when s n is 1
//   asymmetric            i / s
//   tf_half_pixel_for_nn  (i + 0.5) / s
//   tf_crop_and_resize    a (n - 1) + i (b - a) (n - 1) / (m - 1), or (a + b) / 2 * (n - 1) when m
//                         is 1; outside [0, n - 1] the result is the extrapolation value
// All are computed in double from the float32 scale (or from m / n when sizes are given), in the
// order written. Weights are computed in double and count as those doubles. Positions outside the
// axis read its border; with exclude_outside their weight is zero and the others are divided by
// their sum. Taps of weight zero do not take part.
#pragma once

#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

enum class ResizeMode { nearest, linear, cubic };

struct ResizeRule {
  ResizeMode mode = ResizeMode::nearest;
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

struct ResizeAxis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  double scale = 1.0;
  double roi_begin = 0.0;
  double roi_end = 1.0;
};

struct Tap {
  std::int64_t index = 0;
  double weight = 0.0;
};

/// What one output position reads; no taps: the extrapolation value.
using Taps1d = std::vector<Tap>;

/// One entry per output position. Throws Error for unknown names of modes.
std::vector<Taps1d> resize_taps(const ResizeRule& rule, const ResizeAxis& axis);

/// True when every output position reads the same place of the input with weight one.
bool is_identity(const std::vector<Taps1d>& taps, std::int64_t in);

}  // namespace assay::ops
