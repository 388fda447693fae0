#include "runtime/ops/support/interpolate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/numeric/parallel.h"

namespace assay::ops {
namespace {

constexpr std::int64_t kGrain = 4096;

/// Elements of a tensor on the way, as [outer, size, inner] of the axis at hand.
template <class W>
struct Stage {
  std::vector<W> data;
  std::vector<std::int64_t> dims;
};

template <class W>
Stage<W> along_axis(const Stage<W>& x, std::size_t axis, const std::vector<Taps1d>& taps) {
  Stage<W> y{{}, x.dims};
  y.dims[axis] = static_cast<std::int64_t>(taps.size());
  y.data.resize(static_cast<std::size_t>(Shape(y.dims).numel()));
  const auto a = static_cast<std::int64_t>(axis);
  const std::int64_t size = x.dims[axis];
  const std::int64_t out = y.dims[axis];
  const std::int64_t outer = Shape(x.dims).numel(0, a);
  const std::int64_t inner = Shape(x.dims).numel(a + 1, static_cast<std::int64_t>(x.dims.size()));
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, inner));
  parallel_for(0, outer * out, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      W* to = y.data.data() + r * inner;
      const W* from = x.data.data() + r / out * size * inner;
      std::fill(to, to + inner, W(0.0));
      for (const Tap& t : taps[static_cast<std::size_t>(r % out)]) {
        const W* row = from + t.index * inner;
        for (std::int64_t i = 0; i < inner; ++i) to[i] = to[i] + row[i] * t.weight;
      }
    }
  });
  return y;
}

template <class T, class W>
T stored(const W& v) {
  if constexpr (std::is_integral_v<T>) {
    if (!(v == v)) return T(0);
    const double low = static_cast<double>(std::numeric_limits<T>::lowest());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    if (v <= low) return std::numeric_limits<T>::lowest();
    return v >= high ? std::numeric_limits<T>::max() : static_cast<T>(v);
  } else {
    return static_cast<T>(v);
  }
}

/// For every output position: does some axis lie outside?
std::vector<char> outside_mask(const std::vector<std::vector<Taps1d>>& taps) {
  std::vector<char> mask{0};
  for (const auto& axis : taps) {
    std::vector<char> next;
    next.reserve(mask.size() * axis.size());
    for (const char m : mask)
      for (const Taps1d& t : axis) next.push_back(m != 0 || t.empty());
    mask = std::move(next);
  }
  return mask;
}

bool any_outside(const std::vector<std::vector<Taps1d>>& taps) {
  for (const auto& axis : taps)
    for (const Taps1d& t : axis)
      if (t.empty()) return true;
  return false;
}

template <class T, class W>
void run(const Tensor& x, const std::vector<std::vector<Taps1d>>& taps, double outside, Tensor& y) {
  const auto in = x.data<T>();
  Stage<W> stage{{}, x.shape().vec()};
  stage.data.reserve(in.size());
  for (const T& v : in) stage.data.push_back(static_cast<W>(v));
  for (std::size_t axis = taps.size(); axis-- > 0;) {
    if (!is_identity(taps[axis], stage.dims[axis])) stage = along_axis(stage, axis, taps[axis]);
  }
  const auto out = y.mutable_data<T>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = stored<T>(stage.data[i]);
  if (!any_outside(taps)) return;
  const auto mask = outside_mask(taps);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (mask[i] != 0) out[i] = stored<T>(W(outside));
}

}  // namespace

void interpolate(const Tensor& x, const std::vector<std::vector<Taps1d>>& taps, double outside,
                 Tensor& y) {
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, dd>) {
      run<T, dd>(x, taps, outside, y);
    } else if constexpr (std::is_same_v<T, bool>) {
      throw Error({.what = "bool cannot be interpolated", .kind = ErrorKind::unsupported});
    } else {
      run<T, double>(x, taps, outside, y);
    }
  });
}

void interpolate_radius(BoundContext& c, std::vector<std::vector<Taps1d>> taps) {
  double steps = 0.0;
  for (auto& axis : taps) {
    std::size_t longest = 0;
    for (Taps1d& position : axis) {
      longest = std::max(longest, position.size());
      for (Tap& t : position) t.weight = std::fabs(t.weight);
    }
    steps += static_cast<double>(longest) + 1.0;
  }
  // The evaluation runs in double for float32 and float64, in dd for dd.
  const double unit = std::min(c.unit, 0x1p-53);
  const double gamma = steps * unit / (1.0 - steps * unit) * (1.0 + 0x1p-40);
  const auto x = c.inputs[0].data<double>();
  Tensor widened_radius = Tensor::zeros(DType::float64, c.inputs[0].shape());
  auto r = widened_radius.mutable_data<double>();
  const bool exact = c.radii.empty() || !c.radii[0].defined();
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double passed = exact ? 0.0 : c.radii[0].data<double>()[i];
    r[i] = passed * (1.0 + gamma) + gamma * std::fabs(x[i]) + c.tiny;
  }
  c.result.assign(1, Tensor(DType::float64, c.outputs[0].shape()));
  interpolate(widened_radius, taps, 0.0, c.result[0]);
  const auto y = c.outputs[0].data<double>();
  auto out = c.result[0].mutable_data<double>();
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = (out[i] + c.unit * (std::fabs(y[i]) + out[i]) + c.tiny) * (1.0 + 0x1p-40);
}

}  // namespace assay::ops
