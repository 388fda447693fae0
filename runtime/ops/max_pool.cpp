// MaxPool (1, 8, 10, 11, 12) and GlobalMaxPool (1): the largest input in each window.
//
// Padding taps do not take part; a window without inputs gives the lowest value of the type (-inf
// for floats). A NaN in a window is its result (the first one, bits kept). Output 1 (Indices, opset
// 8) is the flat index of the first maximum in the whole input, row-major, or with the last two
// spatial axes swapped for storage_order = 1 (column-major inside an image).
#include <limits>

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/pool.h"

namespace assay::ops::max_pool_op {
namespace {

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, dd>)
    return dd(-std::numeric_limits<double>::infinity(), 0.0);
  else if constexpr (is_narrow<T>)
    return T(-std::numeric_limits<double>::infinity());
  else if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Position in `offsets` of the first largest value, or of the first NaN; -1 when there is none.
template <class T>
std::int64_t largest(const T* x, const std::vector<std::int64_t>& offsets) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Wide<T> v = load<T>(x[offsets[i]]);
    if (not_a_number(v)) return static_cast<std::int64_t>(i);
    if (best < 0 || v > load<T>(x[offsets[static_cast<std::size_t>(best)]]))
      best = static_cast<std::int64_t>(i);
  }
  return best;
}

/// Column-major numbering of the last two axes that are there.
std::int64_t column_major(const PoolShape& s, std::int64_t offset) {
  const std::int64_t w = offset % s.in[2], h = offset / s.in[2] % s.in[1];
  const std::int64_t d = offset / (s.in[1] * s.in[2]);
  return d * s.in[1] * s.in[2] + w * s.in[1] + h;
}

template <class T>
void pool(EvalContext& c, const PoolShape& s) {
  const auto taps = all_taps(s);
  const T* x = c.in<T>(0).data();
  T* y = c.out<T>(0).data();
  std::int64_t* indices = c.has_output(1) ? c.out<std::int64_t>(1).data() : nullptr;
  const bool columns = c.attributes().int_or("storage_order", 0) != 0;
  parallel_for(0, s.rows, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t p = 0; p < s.out_size(); ++p) {
        const auto& offsets = taps[static_cast<std::size_t>(p)].offsets;
        const T* base = x + row * s.in_size();
        const std::int64_t best = largest(base, offsets);
        const std::int64_t at = best < 0 ? -1 : offsets[static_cast<std::size_t>(best)];
        y[row * s.out_size() + p] = at < 0 ? lowest<T>() : base[at];
        if (indices == nullptr) continue;
        indices[row * s.out_size() + p] =
            at < 0 ? -1 : row * s.in_size() + (columns ? column_major(s, at) : at);
      }
    }
  });
}

/// Outputs [first, last) of one axis whose tap k lies inside the input.
struct Inside {
  std::int64_t first, last;
};

Inside inside(const PoolShape& s, std::size_t axis, std::int64_t k) {
  const std::int64_t shift = s.pad_begin[axis] - k * s.dilation[axis];  // i = o * stride - shift
  const std::int64_t stride = s.stride[axis];
  const std::int64_t first = shift <= 0 ? 0 : (shift + stride - 1) / stride;
  const std::int64_t past = s.in[axis] + shift;  // o * stride < past
  return {first, past <= 0 ? 0 : std::min(s.out[axis], (past + stride - 1) / stride)};
}

/// y[o] = the larger of y[o] and x[o * stride]; the first of equals and the first NaN stay.
template <class T>
__attribute__((always_inline)) inline void raise(const T* x, std::int64_t stride, T* y,
                                                 std::int64_t n) {
#pragma omp simd
  for (std::int64_t o = 0; o < n; ++o) {
    const T v = x[o * stride];
    y[o] = (v > y[o] || v != v) && y[o] == y[o] ? v : y[o];
  }
}

/// The same for the strides that pools have, which compilers then turn into vector code.
template <class T>
__attribute__((target("avx2"))) void raise_avx2(const T* x, std::int64_t stride, T* y,
                                                std::int64_t n) {
  if (stride == 1) return raise(x, 1, y, n);
  if (stride == 2) return raise(x, 2, y, n);
  raise(x, stride, y, n);
}

template <class T>
void raise_line(const T* x, std::int64_t stride, T* y, std::int64_t n) {
  if (current_isa() >= Isa::avx2) return raise_avx2(x, stride, y, n);
  raise(x, stride, y, n);
}

/// One tap after the other over whole lines: the taps of each output come in the same order as in
/// pool(), and nothing is looked up.
template <class T>
void pool_values(EvalContext& c, const PoolShape& s) {
  const T* x = c.in<T>(0).data();
  T* y = c.out<T>(0).data();
  const auto one_row = [&s](const T* from, T* to) {
    std::fill_n(to, s.out_size(), lowest<T>());
    for (std::int64_t tap = 0; tap < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++tap) {
      const std::array<std::int64_t, 3> k{tap / (s.kernel[1] * s.kernel[2]),
                                          tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      const Inside d = inside(s, 0, k[0]), h = inside(s, 1, k[1]), w = inside(s, 2, k[2]);
      const auto at = [&](std::size_t axis, std::int64_t o) {
        return o * s.stride[axis] - s.pad_begin[axis] + k[axis] * s.dilation[axis];
      };
      for (std::int64_t od = d.first; od < d.last; ++od) {
        for (std::int64_t oh = h.first; oh < h.last; ++oh) {
          if (w.first >= w.last) continue;
          raise_line(from + (at(0, od) * s.in[1] + at(1, oh)) * s.in[2] + at(2, w.first),
                     s.stride[2], to + (od * s.out[1] + oh) * s.out[2] + w.first, w.last - w.first);
        }
      }
    }
  };
  parallel_for(0, s.rows, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      one_row(x + row * s.in_size(), y + row * s.out_size());
  });
}

void run(EvalContext& c, const PoolShape& s) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>) {
      if (!c.has_output(1)) return pool_values<T>(c, s);
    }
    pool<T>(c, s);
  });
}

void eval(EvalContext& c) { run(c, read_pool_shape(c.attributes(), c.input(0).shape())); }

/// One window as large as the image.
PoolShape global_shape(const Shape& x) {
  PoolShape s;
  s.rows = x[0] * x[1];
  s.in[2] = x.numel(2, x.rank());
  s.kernel[2] = s.in[2];
  return s;
}

void eval_global(EvalContext& c) { run(c, global_shape(c.input(0).shape())); }

/// |max a - max b| <= the largest |a_i - b_i|.
void bound_shape(BoundContext& c, const PoolShape& s) {
  const auto taps = all_taps(s);
  const Radius r(c, 0);
  auto out = new_radius(c);
  if (r.exact()) return;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
    const std::int64_t base = i / s.out_size() * s.in_size();
    for (const std::int64_t at : taps[static_cast<std::size_t>(i % s.out_size())].offsets)
      out[static_cast<std::size_t>(i)] = std::max(out[static_cast<std::size_t>(i)], r[base + at]);
  }
}

void bound(BoundContext& c) {
  bound_shape(c, read_pool_shape(c.node->attributes, c.inputs[0].shape()));
}
void bound_global(BoundContext& c) { bound_shape(c, global_shape(c.inputs[0].shape())); }

const RegisterOp registered{std::vector<OpDef>{
    {.type = "MaxPool", .since = 1, .infer = infer_pool, .eval = eval, .bound = bound},
    {.type = "GlobalMaxPool",
     .since = 1,
     .infer = infer_global_pool,
     .eval = eval_global,
     .bound = bound_global}}};

}  // namespace
}  // namespace assay::ops::max_pool_op
