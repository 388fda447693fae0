// RoiAlign (10, 16): every region of interest resampled to output_height x output_width; each bin
// is the average (or maximum) over a grid of bilinear samples.
//
// Coordinates are x * spatial_scale - o with o = 0.5 for half_pixel (default from opset 16 on) and
// 0 for output_half_pixel (always at opset 10), where regions are also at least 1 x 1. A bin has
// sampling_ratio^2 samples, or ceil(region / bins) when that is 0. Samples outside [-1, size] are
// 0. max takes the largest single weighted corner, as the ONNX definition's tests do. Coordinates
// and weights are double and count as such; the result is rounded once.
#include <algorithm>
#include <cmath>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/sample.h"

namespace assay::ops::roi_align_op {
namespace {

struct Options {
  std::int64_t height = 1, width = 1, ratio = 0;
  double scale = 1.0, offset = 0.0;
  bool half_pixel = false, max = false;
};

Options read_options(const Attributes& a, std::int64_t opset) {
  Options o{.height = a.int_or("output_height", 1),
            .width = a.int_or("output_width", 1),
            .ratio = a.int_or("sampling_ratio", 0),
            .scale = static_cast<double>(a.float_or("spatial_scale", 1.0F))};
  const std::string coordinates = opset < 16
                                      ? "output_half_pixel"
                                      : a.string_or("coordinate_transformation_mode", "half_pixel");
  const std::string mode = a.string_or("mode", "avg");
  o.half_pixel = coordinates == "half_pixel";
  o.offset = o.half_pixel ? 0.5 : 0.0;
  o.max = mode == "max";
  if (!o.half_pixel && coordinates != "output_half_pixel")
    throw Error({.what = "attribute 'coordinate_transformation_mode'", .got = coordinates});
  if (!o.max && mode != "avg") throw Error({.what = "attribute 'mode'", .got = mode});
  if (o.height < 1 || o.width < 1 || o.ratio < 0)
    throw Error({.what = "output sizes must be positive and sampling_ratio not negative"});
  return o;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& rois = c.input(1);
  const Options o = read_options(c.attributes(), c.opset);
  if (!x.dims || !rois.dims) return;
  if (x.dims->size() != 4 || rois.dims->size() != 2)
    throw Error({.what = "an image [N, C, H, W] and regions [n, 4] are needed",
                 .got = to_string(x) + " and " + to_string(rois)});
  c.set_output(
      0, {x.dtype, std::vector<std::int64_t>{(*rois.dims)[0], (*x.dims)[1], o.height, o.width}});
}

/// One axis of a bin: start, step and number of samples.
struct Grid {
  double start = 0.0, step = 0.0;
  std::int64_t count = 0;
};

Grid grid_of(double begin, double size, std::int64_t bins, std::int64_t bin, std::int64_t ratio) {
  const double bin_size = size / static_cast<double>(bins);
  const double wanted = std::ceil(bin_size);
  const std::int64_t count =
      ratio > 0 ? ratio : static_cast<std::int64_t>(std::clamp(wanted, 0.0, 1e6));
  const double step = bin_size / static_cast<double>(count);
  return {begin + static_cast<double>(bin) * bin_size + 0.5 * step, step, count};
}

/// The two places around `v` and the weight of the second; outside the image none.
struct Pair {
  bool inside = false;
  std::int64_t low = 0, high = 0;
  double part = 0.0;
};

Pair pair_of(double v, std::int64_t size) {
  if (!(v >= -1.0 && v <= static_cast<double>(size))) return {};
  v = std::max(v, 0.0);
  const auto low = static_cast<std::int64_t>(v);
  if (low >= size - 1) return {true, size - 1, size - 1, 0.0};
  return {true, low, low + 1, v - static_cast<double>(low)};
}

/// Four taps per sample; samples outside the image have weight 0 everywhere.
std::vector<ImageTap> bin_taps(const Grid& y, const Grid& x, std::int64_t height,
                               std::int64_t width) {
  std::vector<ImageTap> taps;
  for (std::int64_t i = 0; i < y.count; ++i) {
    const Pair p = pair_of(y.start + static_cast<double>(i) * y.step, height);
    for (std::int64_t j = 0; j < x.count; ++j) {
      const Pair q = pair_of(x.start + static_cast<double>(j) * x.step, width);
      const double on = p.inside && q.inside ? 1.0 : 0.0;
      taps.push_back({p.low * width + q.low, on * (1.0 - p.part) * (1.0 - q.part)});
      taps.push_back({p.low * width + q.high, on * (1.0 - p.part) * q.part});
      taps.push_back({p.high * width + q.low, on * p.part * (1.0 - q.part)});
      taps.push_back({p.high * width + q.high, on * p.part * q.part});
    }
  }
  return taps;
}

template <class T>
SampleSum<T> largest(const T* image, const std::vector<ImageTap>& taps) {
  SampleSum<T> best(0.0);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const SampleSum<T> v = static_cast<SampleSum<T>>(image[taps[i].offset]) * taps[i].weight;
    if (i == 0 || v > best) best = v;
  }
  return best;
}

struct Region {
  double y = 0.0, x = 0.0, height = 0.0, width = 0.0;
};

Region region_of(std::span<const double> corners, const Options& o) {
  Region r{corners[1] * o.scale - o.offset, corners[0] * o.scale - o.offset, 0.0, 0.0};
  r.height = corners[3] * o.scale - o.offset - r.y;
  r.width = corners[2] * o.scale - o.offset - r.x;
  if (!o.half_pixel) {
    r.height = std::max(r.height, 1.0);
    r.width = std::max(r.width, 1.0);
  }
  return r;
}

template <class T>
void align_region(const Tensor& x, const Region& r, const Options& o, std::int64_t batch, T* out) {
  const std::int64_t height = x.shape()[2], width = x.shape()[3], channels = x.shape()[1];
  const T* images = x.data<T>().data() + batch * channels * height * width;
  for (std::int64_t i = 0; i < o.height; ++i) {
    const Grid y = grid_of(r.y, r.height, o.height, i, o.ratio);
    for (std::int64_t j = 0; j < o.width; ++j) {
      const auto taps = bin_taps(y, grid_of(r.x, r.width, o.width, j, o.ratio), height, width);
      const auto samples = static_cast<double>(std::max<std::size_t>(1, taps.size() / 4));
      for (std::int64_t c = 0; c < channels; ++c) {
        const T* image = images + c * height * width;
        out[(c * o.height + i) * o.width + j] =
            o.max ? from_sum<T>(largest(image, taps))
                  : from_sum<T>(weighted_sum(image, taps) / SampleSum<T>(samples));
      }
    }
  }
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  if (c.output(0).numel() == 0) return;
  const Options o = read_options(c.attributes(), c.opset);
  const auto corners = to_doubles(c.input(1));
  const auto batches = to_ints(c.input(2));
  const std::int64_t regions = c.input(1).shape()[0];
  if (c.input(1).shape()[1] != 4 || static_cast<std::int64_t>(batches.size()) != regions)
    throw Error({.what = "regions [n, 4] and batch_indices [n] do not fit",
                 .got = describe(c.input(1)) + " and " + describe(c.input(2))});
  for (const std::int64_t b : batches)
    if (b < 0 || b >= x.shape()[0])
      throw Error({.what = "batch index is out of range", .got = std::to_string(b)});
  const std::int64_t per_region = c.output(0).numel() / regions;
  visit_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = c.out<T>(0).data();
    parallel_for(0, regions, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r) {
        const auto k = static_cast<std::size_t>(r);
        align_region<T>(x, region_of(std::span(corners).subspan(k * 4, 4), o), o, batches[k],
                        out + r * per_region);
      }
    });
  });
}

const RegisterOp registered{{.type = "RoiAlign", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::roi_align_op
