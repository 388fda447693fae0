// GridSample (16: images; 20: one to three spatial axes): y[n, c, p] = x[n, c] sampled at
// grid[n, p], whose coordinates run from -1 to 1, innermost axis first.
//
// Place on an axis of size d: align_corners (g + 1) / 2 * (d - 1), else ((g + 1) d - 1) / 2.
// Borders lie at 0 and d - 1 with align_corners, else at -0.5 and d - 0.5. Outside them: zeros
// reads 0, border clamps, reflection mirrors at the borders. nearest rounds halves to even; linear;
// cubic with a = -0.75 (each of its places is padded by itself). Places and weights are double and
// count as such; the result is rounded once.
#include <array>
#include <cmath>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/sample.h"

namespace assay::ops::grid_sample_op {
namespace {

enum class Mode { nearest, linear, cubic };
enum class Padding { zeros, border, reflection };

struct Options {
  Mode mode = Mode::linear;
  Padding padding = Padding::zeros;
  bool align = false;
};

Options read_options(const Attributes& a) {
  const std::string mode = a.string_or("mode", "linear");
  const std::string padding = a.string_or("padding_mode", "zeros");
  Options o;
  o.align = a.int_or("align_corners", 0) != 0;
  if (mode == "nearest") {
    o.mode = Mode::nearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    o.mode = Mode::cubic;
  } else if (mode != "linear" && mode != "bilinear") {
    throw Error({.what = "attribute 'mode'", .got = "'" + mode + "'"});
  }
  if (padding == "border") {
    o.padding = Padding::border;
  } else if (padding == "reflection") {
    o.padding = Padding::reflection;
  } else if (padding != "zeros") {
    throw Error({.what = "attribute 'padding_mode'", .got = "'" + padding + "'"});
  }
  return o;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& grid = c.input(1);
  read_options(c.attributes());
  if (!x.dims || !grid.dims) return;
  const std::size_t rank = x.dims->size();
  const bool fits =
      rank >= 3 && rank <= 5 && grid.dims->size() == rank &&
      (grid.dims->back() < 0 || grid.dims->back() == static_cast<std::int64_t>(rank) - 2) &&
      ((*x.dims)[0] < 0 || (*grid.dims)[0] < 0 || (*x.dims)[0] == (*grid.dims)[0]);
  if (!fits)
    throw Error({.what = "image and grid do not fit",
                 .got = to_string(x) + " and " + to_string(grid),
                 .expected = "[N, C, spatial...] and [N, places..., number of spatial axes]"});
  std::vector<std::int64_t> dims{(*x.dims)[0], (*x.dims)[1]};
  dims.insert(dims.end(), grid.dims->begin() + 1, grid.dims->end() - 1);
  c.set_output(0, {x.dtype, dims});
}

double reflected(double v, double low, double high) {
  const double range = high - low;
  if (range <= 0.0) return low;
  double at = std::fmod(std::fabs(v - low), 2.0 * range);
  if (at > range) at = 2.0 * range - at;
  return low + at;
}

double padded_place(double v, std::int64_t size, const Options& o) {
  const auto n = static_cast<double>(size);
  const double low = o.align ? 0.0 : -0.5;
  const double high = o.align ? n - 1.0 : n - 0.5;
  if (v >= low && v <= high) return v;
  if (o.padding == Padding::border) return std::fmin(std::fmax(v, 0.0), n - 1.0);
  if (o.padding == Padding::reflection) return reflected(v, low, high);
  return v;
}

/// Adds a tap at place `i`; outside the image it is padded.
void add_tap(std::vector<ImageTap>& taps, double i, double weight, std::int64_t size,
             const Options& o) {
  const auto n = static_cast<double>(size);
  if (weight == 0.0) return;
  if (!(i >= 0.0 && i < n)) {
    if (o.padding == Padding::zeros) return;
    i = std::fmin(std::fmax(padded_place(i, size, o), 0.0), n - 1.0);
  }
  taps.push_back({static_cast<std::int64_t>(i), weight});
}

std::array<double, 4> cubic_weights(double r) {
  constexpr double a = -0.75;
  const double q = 1.0 - r;
  return {((a * (r + 1.0) - 5.0 * a) * (r + 1.0) + 8.0 * a) * (r + 1.0) - 4.0 * a,
          ((a + 2.0) * r - (a + 3.0)) * r * r + 1.0, ((a + 2.0) * q - (a + 3.0)) * q * q + 1.0,
          ((a * (q + 1.0) - 5.0 * a) * (q + 1.0) + 8.0 * a) * (q + 1.0) - 4.0 * a};
}

/// Taps along one axis of `size` places.
std::vector<ImageTap> axis_taps(double g, std::int64_t size, const Options& o) {
  const auto n = static_cast<double>(size);
  double v = o.align ? (g + 1.0) / 2.0 * (n - 1.0) : ((g + 1.0) * n - 1.0) / 2.0;
  if (!(std::fabs(v) < 0x1p52))
    v = std::isnan(v) || o.padding == Padding::zeros ? -2.0 * n - 8.0 : std::copysign(0x1p52, v);
  if (o.mode == Mode::nearest) v = std::nearbyint(v);
  v = padded_place(v, size, o);
  std::vector<ImageTap> taps;
  if (o.mode == Mode::nearest) {
    add_tap(taps, std::nearbyint(v), 1.0, size, o);
    return taps;
  }
  const double base = std::floor(v);
  if (o.mode == Mode::linear) {
    add_tap(taps, base, 1.0 - (v - base), size, o);
    add_tap(taps, base + 1.0, v - base, size, o);
    return taps;
  }
  const auto weights = cubic_weights(v - base);
  for (std::size_t k = 0; k < 4; ++k)
    add_tap(taps, base - 1.0 + static_cast<double>(k), weights[k], size, o);
  return taps;
}

/// Products of the taps of all axes; `at` are the grid's coordinates, innermost axis first.
std::vector<ImageTap> taps_at(std::span<const double> at, const Shape& x, const Options& o) {
  std::vector<ImageTap> all{{0, 1.0}};
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) {
    const double g = at[static_cast<std::size_t>(x.rank() - 1 - axis)];
    const auto along = axis_taps(g, x[axis], o);
    std::vector<ImageTap> next;
    for (const ImageTap& a : all)
      for (const ImageTap& b : along)
        next.push_back({a.offset * x[axis] + b.offset, a.weight * b.weight});
    all = std::move(next);
  }
  return all;
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  if (c.output(0).numel() == 0) return;
  const Options o = read_options(c.attributes());
  const auto grid = to_doubles(c.input(1));
  const Shape& shape = x.shape();
  const std::int64_t depth = shape.rank() - 2;
  const std::int64_t image = shape.numel(2, shape.rank());
  const std::int64_t places = c.output(0).shape().numel(2, shape.rank());
  const std::int64_t channels = shape[1];
  if (image == 0) throw Error({.what = "sampling an image without elements", .got = describe(x)});
  visit_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>().data();
    T* out = c.out<T>(0).data();
    parallel_for(0, shape[0] * places, 256, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto from = static_cast<std::size_t>(i * depth);
        const auto taps =
            taps_at(std::span(grid).subspan(from, static_cast<std::size_t>(depth)), shape, o);
        const std::int64_t n = i / places;
        for (std::int64_t k = n * channels; k < (n + 1) * channels; ++k)
          out[k * places + i % places] = from_sum<T>(weighted_sum(in + k * image, taps));
      }
    });
  });
}

const RegisterOp registered{{.type = "GridSample", .since = 16, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::grid_sample_op
