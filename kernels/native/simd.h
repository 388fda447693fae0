// One loop body compiled for AVX-512, AVX2 and the base instruction set, chosen at run time under
// the same cap as oneDNN's.
//
// The bodies contain no fused multiply-add unless they say std::fma, so every form gives the same
// bits.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/isa.h"

namespace assay::kernels {

template <class Body, class... Args>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void run_avx512(const Body& body,
                                                                              Args... args) {
  body(args...);
}

template <class Body, class... Args>
__attribute__((target("avx2,fma"))) void run_avx2(const Body& body, Args... args) {
  body(args...);
}

enum class SimdLevel { base, avx2, avx512 };

inline SimdLevel simd_level() {
  if (isa_has_avx512()) return SimdLevel::avx512;
  return isa_has_avx2() ? SimdLevel::avx2 : SimdLevel::base;
}

/// `body` is a function object whose operator() is marked ASSAY_SIMD_BODY.
template <class Body, class... Args>
void run_simd(SimdLevel level, const Body& body, Args... args) {
  switch (level) {
    case SimdLevel::avx512:
      return run_avx512(body, args...);
    case SimdLevel::avx2:
      return run_avx2(body, args...);
    case SimdLevel::base:
      return body(args...);
  }
}

#define ASSAY_SIMD_BODY __attribute__((always_inline)) inline

/// Calls f(begin, end) on parts of [0, n), one per OpenMP thread, each a multiple of `grain` but
/// the last.
template <class F>
void split_work(std::int64_t n, std::int64_t grain, const F& f) {
  const std::int64_t parts = (n + grain - 1) / grain;
  if (parts <= 1) {
    f(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t begin = part * grain;
    f(begin, begin + grain < n ? begin + grain : n);
  }
}

}  // namespace assay::kernels
