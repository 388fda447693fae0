// y[i] = f(x[i]) in blocks of two fixed sizes.
//
// The inner loop has a constant count and is marked as free of dependences, so compilers turn it
// into vector code without run-time checks for overlap; x and y may be the same array. Every
// element sees the same operations whatever the vector length, so the bits do not depend on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/parallel.h"

namespace assay {

inline constexpr std::int64_t kMapBlock = 64;
inline constexpr std::int64_t kMapUnit = 8;         ///< blocks of what is left
inline constexpr std::int64_t kMapGrain = 1 << 14;  ///< least elements per thread

// The arrays of a loop are the same or do not overlap, so no element depends on an earlier one.
#if defined(__clang__)
#define ASSAY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ASSAY_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <std::int64_t Size, class Y, class F, class... X>
__attribute__((always_inline)) inline void map_fixed(const F& f, Y* y, const X*... x) {
  ASSAY_INDEPENDENT
  for (std::int64_t k = 0; k < Size; ++k) y[k] = f(x[k]...);
}

/// Whole blocks of `Size` elements from i on; returns where they end.
template <std::int64_t Size, class Y, class F, class... X>
__attribute__((always_inline)) inline std::int64_t map_whole(std::int64_t i, std::int64_t n,
                                                             const F& f, Y* y, const X*... x) {
  for (; i + Size <= n; i += Size) map_fixed<Size>(f, y + i, (x + i)...);
  return i;
}

/// y[i] = f(x[i]) for i in [0, n); f must not look at neighbours.
template <class X, class Y, class F>
__attribute__((always_inline)) inline void map_block(const X* x, Y* y, std::int64_t n,
                                                     const F& function) {
  const F f = function;  // a local copy: stores cannot change what it captured
  std::int64_t i = 0;
  if constexpr (std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>) {
    i = map_whole<kMapBlock>(i, n, f, y, x);
    i = map_whole<kMapUnit>(i, n, f, y, x);
  }
  for (; i < n; ++i) y[i] = f(x[i]);
}

/// y[i] = f(a[i], b[i]) for i in [0, n).
template <class A, class B, class Y, class F>
__attribute__((always_inline)) inline void map_block(const A* a, const B* b, Y* y, std::int64_t n,
                                                     const F& function) {
  const F f = function;
  std::int64_t i = 0;
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<Y>) {
    i = map_whole<kMapBlock>(i, n, f, y, a, b);
    i = map_whole<kMapUnit>(i, n, f, y, a, b);
  }
  for (; i < n; ++i) y[i] = f(a[i], b[i]);
}

// The same loops for AVX2: std::fma becomes one instruction there. Contraction is off, so the bits
// are the same.
template <class F, class... Pointers>
__attribute__((target("avx2,fma"))) void map_block_avx2(std::int64_t n, const F& f,
                                                        Pointers... arrays) {
  map_block(arrays..., n, f);
}

template <class F, class... Pointers>
void map_part(std::int64_t n, const F& f, Pointers... arrays) {
  if (current_isa() >= Isa::avx2) return map_block_avx2(n, f, arrays...);
  map_block(arrays..., n, f);
}

/// map_block on all threads, under the widest of the two instruction sets.
template <class X, class Y, class F>
void map_all(const X* x, Y* y, std::int64_t n, const F& f) {
  if (n <= kMapGrain) return map_part(n, f, x, y);
  parallel_for(0, n, kMapGrain, [&](std::int64_t first, std::int64_t last) {
    map_part(last - first, f, x + first, y + first);
  });
}
template <class A, class B, class Y, class F>
void map_all(const A* a, const B* b, Y* y, std::int64_t n, const F& f) {
  if (n <= kMapGrain) return map_part(n, f, a, b, y);
  parallel_for(0, n, kMapGrain, [&](std::int64_t first, std::int64_t last) {
    map_part(last - first, f, a + first, b + first, y + first);
  });
}

}  // namespace assay
