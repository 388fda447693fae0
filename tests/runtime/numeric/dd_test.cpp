// The proved error of one operation on double-doubles against MPFR, where a sum and a product of
// 106-bit operands are exact in 600 bits.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "runtime/numeric/dd.h"

namespace assay::dd_test {
namespace {

using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

void set(mpfr_ptr to, const dd& x) {
  mpfr_set_d(to, dd_hi(x), MPFR_RNDN);
  mpfr_add_d(to, to, dd_lo(x), MPFR_RNDN);
}

double relative_error(const dd& a, const dd& b, const dd& computed, Exact exact) {
  mpfr_t x, y, z;
  mpfr_inits2(600, x, y, z, static_cast<mpfr_ptr>(nullptr));
  set(x, a);
  set(y, b);
  exact(x, x, y, MPFR_RNDN);
  set(z, computed);
  mpfr_sub(z, z, x, MPFR_RNDN);
  mpfr_div(z, z, x, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(z, MPFR_RNDN));
  mpfr_clears(x, y, z, static_cast<mpfr_ptr>(nullptr));
  return error;
}

/// Both words random and full, the low one just below half a unit of the high one or far below.
dd any(std::mt19937_64& rng) {
  const double high = std::ldexp(static_cast<double>(rng() >> 11 | 1U), -52);
  const double low = std::ldexp(static_cast<double>(rng() >> 11 | 1U), -106 - int(rng() % 4) * 9);
  return dd(high) + dd(rng() % 2 == 0 ? low : -low);
}

template <class Operation>
void check(Operation operation, Exact exact) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 20000; ++i) {
    const dd a = any(rng), b = any(rng);
    ASSERT_LE(relative_error(a, b, operation(a, b), exact), dd_unit()) << i;
  }
}

TEST(DoubleDouble, Sum) {
  check([](const dd& a, const dd& b) { return a + b; }, mpfr_add);
}
TEST(DoubleDouble, Difference) {
  check([](const dd& a, const dd& b) { return a - b; }, mpfr_sub);
}
TEST(DoubleDouble, Product) {
  check([](const dd& a, const dd& b) { return a * b; }, mpfr_mul);
}
TEST(DoubleDouble, Quotient) {
  check([](const dd& a, const dd& b) { return a / b; }, mpfr_div);
}

}  // namespace
}  // namespace assay::dd_test
