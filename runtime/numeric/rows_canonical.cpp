// The f32, f64 and dd evaluations of row functions, in the canonical order of rows_lanes.h.
//
// Every operation is rounded in T. Multiply-adds are fused where the definitions in rows.h say so;
// a dd product and sum round apart. The loops are compiled once for the baseline, where std::fma is
// a library call, and once with FMA instructions: fma is exact up to its one rounding in both, so
// the bits agree.

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <vector>

#include "runtime/numeric/block_map.h"
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/numeric/rows_lanes.h"

namespace assay {
namespace {

using rows::kLanes;

ASSAY_CORE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ASSAY_CORE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
ASSAY_CORE dd fused(const dd& a, const dd& b, const dd& c) { return a * b + c; }

// Which of two NaN operands an instruction passes on depends on its form: all become one.
template <class T>
ASSAY_CORE T arithmetic(const T& v) {
  if constexpr (std::is_floating_point_v<T>)
    return v == v ? v : std::numeric_limits<T>::quiet_NaN();
  else
    return v;
}

float root(float x) { return std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
dd root(const dd& x) { return evaluate(SqrtFn{}, x); }

float from_size(float, std::size_t n) { return static_cast<float>(n); }
double from_size(double, std::size_t n) { return static_cast<double>(n); }
dd from_size(const dd&, std::size_t n) { return static_cast<double>(n); }

template <class T>
ASSAY_CORE T dot(const T* x, const T* y, std::size_t n) {
  std::array<T, kLanes> lane;
  lane.fill(T(0));
  for (std::size_t j = 0; j < std::min(n, kLanes); ++j) lane[j] = x[j] * y[j];
  std::size_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] = fused(x[i + j], y[i + j], lane[j]);
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] = fused(x[i + j], y[i + j], lane[j]);
  return rows::join(lane);
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2,fma")]] T dot_fma(const T* x, const T* y, std::size_t n) {
  return dot(x, y, n);
}
bool has_fma() { return current_isa() >= Isa::avx2; }
#else
template <class T>
T dot_fma(const T* x, const T* y, std::size_t n) {
  return dot(x, y, n);
}
bool has_fma() { return false; }
#endif

template <class T>
T largest(std::span<const T> x) {
  T best = x[0];
  for (const T& value : x) {
    // NaN stays: nothing compares greater than it, and it wins over everything.
    if (!(value <= best)) best = value;
    if (best != best) break;
  }
  return best;
}

template <class T>
T minus(const T& a, const T& b) {
  // The error terms of a double-double difference are NaN when a word is infinite (a masked
  // element).
  if constexpr (std::is_same_v<T, dd>) {
    if (!std::isfinite(dd_hi(a)) || !std::isfinite(dd_hi(b))) return {dd_hi(a) - dd_hi(b), 0.0};
  }
  return a - b;
}

// e^(x - max) of every element and their sum.
template <class T>
T exponentials(std::span<const T> x, const T& shift, std::span<T> e) {
  for (std::size_t i = 0; i < x.size(); ++i) e[i] = evaluate(ExpFn{}, minus(x[i], shift));
  return row_sum(std::span<const T>(e));
}

template <class T>
T parameter(std::span<const T> values, std::size_t i, double absent) {
  return values.empty() ? T(absent) : values[values.size() == 1 ? 0 : i];
}

template <class T>
void scale_and_shift(std::span<const T> d, const T& inv_std, const RowNormParameters<T>& p,
                     std::span<T> y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = fused(T(d[i] * inv_std), parameter(p.gamma, i, 1.0), parameter(p.beta, i, 0.0));
  }
}

}  // namespace

template <class T>
T row_sum(std::span<const T> x) {
  std::array<T, kLanes> lane;
  lane.fill(T(0));
  const std::size_t n = x.size();
  for (std::size_t j = 0; j < std::min(n, kLanes); ++j) lane[j] = x[j];
  std::size_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += x[i + j];
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += x[i + j];
  return rows::join(lane);
}

template <class T>
T row_dot(std::span<const T> x, std::span<const T> y) {
  assert(x.size() == y.size());
  return has_fma() ? dot_fma(x.data(), y.data(), x.size()) : dot(x.data(), y.data(), x.size());
}

template <class T>
void row_softmax(std::span<const T> x, std::span<T> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const T sum = exponentials(x, largest(x), y);
  for (T& value : y) value = value / sum;
}

template <class T>
void row_log_softmax(std::span<const T> x, std::span<T> y) {
  assert(x.size() == y.size());
  if (x.empty()) return;
  const T shift = largest(x);
  std::vector<T> e(x.size());
  const T log = evaluate(LogFn{}, exponentials(x, shift, std::span<T>(e)));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = minus(minus(x[i], shift), log);
}

template <class T>
T row_mean(std::span<const T> x) {
  return row_sum(x) / from_size(T(0), x.size());
}

template <class T>
T row_l2(std::span<const T> x) {
  return root(row_dot(x, x));
}

template <class T>
T row_log_sum_exp(std::span<const T> x) {
  if (x.empty()) return T(-std::numeric_limits<double>::infinity());
  const T shift = largest(x);
  if (const T zero = minus(shift, shift); zero != zero) return shift;  // infinite or NaN
  std::vector<T> e(x.size());
  return shift + evaluate(LogFn{}, exponentials(x, shift, std::span<T>(e)));
}

template <class T>
void row_layer_norm(std::span<const T> x, const RowNormParameters<T>& p, std::span<T> y) {
  assert(x.size() == y.size());
  const T mean = row_mean(x);
  std::vector<T> d(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) d[i] = x[i] - mean;
  const std::span<const T> deviations(d);
  const T variance = row_dot(deviations, deviations) / from_size(T(0), x.size());
  scale_and_shift(deviations, T(T(1) / root(T(variance + p.epsilon))), p, y);
}

template <class T>
void row_rms_norm(std::span<const T> x, const RowNormParameters<T>& p, std::span<T> y) {
  assert(x.size() == y.size());
  const T square = row_dot(x, x) / from_size(T(0), x.size());
  scale_and_shift(x, T(T(1) / root(T(square + p.epsilon))), p, y);
}

template <class T>
void row_batch_norm(std::span<const T> x, const RowBatchNorm<T>& p, std::span<T> y) {
  assert(x.size() == y.size());
  const T s = p.scale / root(T(p.variance + p.epsilon));
  const auto normalize = [mean = p.mean, s, bias = p.bias](const T& v) {
    return arithmetic(fused(v - mean, s, bias));
  };
  map_part(static_cast<std::int64_t>(x.size()), normalize, x.data(), y.data());
}

#define ASSAY_ROWS(T)                                                                          \
  template T row_sum(std::span<const T>);                                                      \
  template T row_dot(std::span<const T>, std::span<const T>);                                  \
  template void row_softmax(std::span<const T>, std::span<T>);                                 \
  template void row_log_softmax(std::span<const T>, std::span<T>);                             \
  template T row_mean(std::span<const T>);                                                     \
  template T row_l2(std::span<const T>);                                                       \
  template T row_log_sum_exp(std::span<const T>);                                              \
  template void row_layer_norm(std::span<const T>, const RowNormParameters<T>&, std::span<T>); \
  template void row_rms_norm(std::span<const T>, const RowNormParameters<T>&, std::span<T>);   \
  template void row_batch_norm(std::span<const T>, const RowBatchNorm<T>&, std::span<T>)

ASSAY_ROWS(float);
ASSAY_ROWS(double);
ASSAY_ROWS(dd);

}  // namespace assay
