// y[i] = f(x[i]) in blocks of a fixed size.
//
// The inner loop has a constant count and works on local arrays, so compilers turn it into vector
// code without run-time checks for overlap; x and y may be the same array. Every element sees the
// same operations whatever the vector length, so the bits do not depend on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/parallel.h"

namespace assay {

inline constexpr std::int64_t kMapBlock = 64;
inline constexpr std::int64_t kMapGrain = 1 << 14;  ///< least elements per thread

/// y[i] = f(x[i]) for i in [0, n); f must not look at neighbours.
template <class X, class Y, class F>
__attribute__((always_inline)) inline void map_block(const X* x, Y* y, std::int64_t n,
                                                     const F& function) {
  const F f = function;  // a local copy: stores cannot change what it captured
  std::int64_t i = 0;
  if constexpr (std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>) {
    X in[kMapBlock];
    Y out[kMapBlock];
    for (; i + kMapBlock <= n; i += kMapBlock) {
      std::copy_n(x + i, kMapBlock, in);
      for (std::int64_t k = 0; k < kMapBlock; ++k) out[k] = f(in[k]);
      std::copy_n(out, kMapBlock, y + i);
    }
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
    A left[kMapBlock];
    B right[kMapBlock];
    Y out[kMapBlock];
    for (; i + kMapBlock <= n; i += kMapBlock) {
      std::copy_n(a + i, kMapBlock, left);
      std::copy_n(b + i, kMapBlock, right);
      for (std::int64_t k = 0; k < kMapBlock; ++k) out[k] = f(left[k], right[k]);
      std::copy_n(out, kMapBlock, y + i);
    }
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
