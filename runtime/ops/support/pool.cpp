#include "runtime/ops/support/pool.h"

#include "runtime/ops/support/infer.h"

namespace assay::ops {

Sizes pool_kernel(const Attributes& attributes, std::size_t rank) {
  const Sizes kernel = attributes.required_ints("kernel_shape");
  if (rank >= 3 && rank <= 5 && kernel.size() + 2 == rank) return kernel;
  throw Error({.what = "pool needs an input of rank 3 to 5 and one kernel size per spatial axis",
               .got = "rank " + std::to_string(rank) + ", kernel_shape " + to_string(Shape(kernel)),
               .kind = rank > 5 ? ErrorKind::unsupported : ErrorKind::bad_input});
}

PoolShape read_pool_shape(const Attributes& attributes, const Shape& x) {
  const Window w = read_window(attributes, pool_kernel(attributes, x.dims().size()));
  PoolShape s;
  s.rows = x[0] * x[1];
  for (std::size_t axis = 0; axis < w.rank(); ++axis) {
    const std::size_t to = 3 - w.rank() + axis;
    s.in[to] = x[static_cast<std::int64_t>(axis) + 2];
    const AxisPlan plan = plan_axis(w, axis, s.in[to]);
    s.out[to] = plan.out;
    s.kernel[to] = w.kernel[axis];
    s.stride[to] = w.strides[axis];
    s.dilation[to] = w.dilations[axis];
    s.pad_begin[to] = plan.pad_begin;
    s.pad_end[to] = plan.pad_end;
  }
  return s;
}

void infer_pool(InferContext& c) {
  if (!c.input(0).dims) return;
  const Dims& x = *c.input(0).dims;
  const Window w = read_window(c.attributes(), pool_kernel(c.attributes(), x.size()));
  Dims out{x[0], x[1]};
  for (std::size_t axis = 0; axis < w.rank(); ++axis)
    out.push_back(plan_axis(w, axis, x[axis + 2]).out);
  c.set_output(0, {c.input(0).dtype, out});
  c.set_output(1, {DType::int64, out});
}

void infer_global_pool(InferContext& c) {
  require_rank(c, 0, 2);
  if (!c.input(0).dims) return;
  Dims out = *c.input(0).dims;
  for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
  c.set_output(0, {c.input(0).dtype, out});
}

Taps taps_of(const PoolShape& s, std::int64_t position) {
  const std::array<std::int64_t, 3> p{position / (s.out[1] * s.out[2]),
                                      position / s.out[2] % s.out[1], position % s.out[2]};
  // Per axis: input coordinates of the taps; -1 marks padding, which counts but does not take part.
  std::array<std::vector<std::int64_t>, 3> at;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t k = 0; k < s.kernel[axis]; ++k) {
      const std::int64_t i = p[axis] * s.stride[axis] - s.pad_begin[axis] + k * s.dilation[axis];
      if (i >= 0 && i < s.in[axis])
        at[axis].push_back(i);
      else if (i < s.in[axis] + s.pad_end[axis])
        at[axis].push_back(-1);
    }
  }
  Taps taps;
  for (const std::int64_t d : at[0]) {
    for (const std::int64_t h : at[1]) {
      for (const std::int64_t w : at[2]) {
        ++taps.counted;
        if (d >= 0 && h >= 0 && w >= 0) taps.offsets.push_back((d * s.in[1] + h) * s.in[2] + w);
      }
    }
  }
  return taps;
}

std::vector<Taps> all_taps(const PoolShape& s) {
  std::vector<Taps> taps;
  taps.reserve(static_cast<std::size_t>(s.out_size()));
  for (std::int64_t p = 0; p < s.out_size(); ++p) taps.push_back(taps_of(s, p));
  return taps;
}

}  // namespace assay::ops
