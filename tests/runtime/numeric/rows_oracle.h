#pragma once

// Rows and exact sums shared by the tests of row functions (MPFR at 2000 bits holds every sum of
// floats and squares exactly).

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/numeric/rows.h"

namespace assay::test {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline const float kNan = std::numeric_limits<float>::quiet_NaN();

using Row = std::vector<float>;

class Real {
 public:
  Real() { mpfr_init2(value, 2000); }
  explicit Real(double x) : Real() { mpfr_set_d(value, x, MPFR_RNDN); }
  ~Real() { mpfr_clear(value); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  float to_float() const { return mpfr_get_flt(value, MPFR_RNDN); }
  mpfr_t value;
};

inline Row random_row(std::mt19937_64& rng, std::size_t n, float spread, float centre = 0) {
  std::normal_distribution<float> normal(centre, spread);
  Row x(n);
  for (float& value : x) value = normal(rng);
  return x;
}

// Values on a coarse grid give exact ties in means and roots.
inline Row grid_row(std::mt19937_64& rng, std::size_t n) {
  Row x(n);
  for (float& value : x) {
    value = static_cast<float>(static_cast<int>(rng() % (1 << 24)) - (1 << 23)) * 0x1p-10F;
  }
  return x;
}

inline void expect_same(float computed, float expected) {
  const bool same =
      std::bit_cast<std::uint32_t>(computed) == std::bit_cast<std::uint32_t>(expected);
  ASSERT_TRUE(same || (std::isnan(computed) && std::isnan(expected)))
      << std::hexfloat << computed << " expected " << expected;
}

inline void exact_sum(Real& sum, const Row& x) {
  mpfr_set_zero(sum.value, 1);
  for (const float v : x) mpfr_add_d(sum.value, sum.value, v, MPFR_RNDN);
}
inline void exact_squares(Real& sum, const Row& x) {
  Real term;
  mpfr_set_zero(sum.value, 1);
  for (const float v : x) {
    mpfr_set_d(term.value, v, MPFR_RNDN);
    mpfr_sqr(term.value, term.value, MPFR_RNDN);
    mpfr_add(sum.value, sum.value, term.value, MPFR_RNDN);
  }
}

}  // namespace assay::test
