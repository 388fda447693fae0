#pragma once
// Independent values for the dot-product tests: exact sums by MPFR at a precision that holds every
// bit, the canonical order by a scalar chain, and fills that make rounding hard.
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/parallel.h"

namespace assay::oracle {

struct Term {
  double a, b;
  double scale = 1.0;
};

// RN(sum scale * a * b) for finite terms; zero by the rule of gemm.h. 6400 bits hold any sum of
// triple products.
// FloatTerms: every factor is a float32, whatever the type of the result.
template <typename T, bool FloatTerms = sizeof(T) == 4>
T exact(const std::vector<Term>& terms) {
  mpfr_t sum, product;
  constexpr mpfr_prec_t bits = FloatTerms ? 896 : 6400;
  mpfr_init2(sum, bits);
  mpfr_init2(product, bits);
  mpfr_set_zero(sum, 1);
  bool all_minus_zero = !terms.empty();
  for (const Term& t : terms) {
    mpfr_set_d(product, t.scale, MPFR_RNDN);
    mpfr_mul_d(product, product, t.a, MPFR_RNDN);
    mpfr_mul_d(product, product, t.b, MPFR_RNDN);
    all_minus_zero = all_minus_zero && mpfr_zero_p(product) && mpfr_signbit(product);
    mpfr_add(sum, sum, product, MPFR_RNDN);
  }
  T result = sizeof(T) == 4 ? static_cast<T>(mpfr_get_flt(sum, MPFR_RNDN))
                            : static_cast<T>(mpfr_get_d(sum, MPFR_RNDN));
  if (mpfr_zero_p(sum)) result = all_minus_zero ? T(-0.0) : T(0);
  mpfr_clear(sum);
  mpfr_clear(product);
  return result;
}

// The canonical chain over a list of factors (gemm.h), before the last steps.
template <typename T>
T chain(const std::vector<std::pair<T, T>>& factors) {
  T total = T(0);
  for (size_t start = 0; start < factors.size(); start += kDotBlock) {
    T block = T(0);
    const size_t end = std::min(factors.size(), start + static_cast<size_t>(kDotBlock));
    for (size_t k = start; k < end; ++k)
      block = std::fma(factors[k].first, factors[k].second, block);
    total = start == 0 ? block : total + block;
  }
  return total;
}

enum class Fill { normal, dyadic, wide, tiny, huge };

inline std::vector<float> fill(size_t count, Fill kind, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> small(-8, 8), exponent(-60, 60), low(-149, -120),
      high(100, 126);
  std::vector<float> values(count);
  for (float& v : values) {
    if (kind == Fill::normal) v = normal(random);
    if (kind == Fill::dyadic) v = static_cast<float>(small(random)) * 0.25F;
    if (kind == Fill::wide) v = std::ldexp(normal(random), exponent(random));
    if (kind == Fill::tiny) v = std::ldexp(normal(random), low(random) / 2);
    if (kind == Fill::huge) v = std::ldexp(normal(random), high(random) / 2);
  }
  return values;
}

// Follows every product with its negation a little later, so that nearly all of the sum cancels.
inline void cancel(std::vector<float>& a, std::vector<float>& b, size_t row) {
  for (size_t start = 0; start + row <= a.size(); start += row)
    for (size_t k = 0; k + 2 < row; k += 2) {
      a[start + k + 1] = -a[start + k];
      b[start + k + 1] = b[start + k];
    }
}

template <typename T>
auto bits(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

// Runs fn under every instruction set of this machine and 1 to 3 threads, then restores the
// settings.
template <typename Fn>
void under_all_settings(const Fn& fn) {
  const int threads = num_threads();
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    if (isa > detected_isa()) continue;
    set_isa_cap(isa);
    for (int t = 1; t <= 3; ++t) {
      set_num_threads(t);
      fn();
    }
  }
  set_isa_cap(Isa::avx512);
  set_num_threads(threads);
}

}  // namespace assay::oracle
