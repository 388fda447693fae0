// The compensated sum behind undecided dot products, on sums pinched between two floats: six last
// terms bring the exact sum to 2^-100 from a midpoint, on either side of it. Expected values are
// MPFR's.
#include "runtime/numeric/gemm_exact.h"

#include <gtest/gtest.h>

#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::gemm_exact_test {
namespace {

/// Float terms whose sum is midpoint - (sum of `terms`), but for less than 2^-110.
std::vector<float> to_midpoint(const std::vector<oracle::Term>& terms) {
  mpfr_t rest, product;
  mpfr_init2(rest, 900);
  mpfr_init2(product, 900);
  mpfr_set_zero(rest, 1);
  for (const oracle::Term& t : terms) {
    mpfr_set_d(product, t.a, MPFR_RNDN);
    mpfr_mul_d(product, product, t.b, MPFR_RNDN);
    mpfr_sub(rest, rest, product, MPFR_RNDN);
  }
  const float below = mpfr_get_flt(rest, MPFR_RNDD);
  const float above = std::nextafter(below, 1e30F);
  mpfr_sub_d(rest, rest, (static_cast<double>(below) + static_cast<double>(above)) / 2, MPFR_RNDN);
  std::vector<float> last;
  for (int i = 0; i < 5; ++i) {
    last.push_back(mpfr_get_flt(rest, MPFR_RNDD));
    mpfr_sub_d(rest, rest, static_cast<double>(last.back()), MPFR_RNDN);
  }
  mpfr_clear(rest);
  mpfr_clear(product);
  return last;
}

void expect_settled(const std::vector<oracle::Term>& terms) {
  dot::DotTerms dot_terms;
  std::vector<double> products;
  for (const oracle::Term& t : terms) {
    dot_terms.add(t.a, t.b);
    products.push_back(t.a * t.b);
  }
  const float expected = oracle::exact<float>(terms);
  ASSERT_EQ(dot::settle<float>(dot_terms), expected);
  const auto quick = dot::settle_products(products, {});
  ASSERT_EQ(quick.value_or(expected), expected);
}

/// A term near 1, and others below half its last place: what the sum loses each time is the whole
/// term, and the plain sum of these losses, all of one sign, rounds nearly a thousand times.
std::vector<oracle::Term> lossy_terms(uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.5F, 0.66F);
  std::vector<oracle::Term> terms{{1.0F + uniform(random) / 2, 1.0}};
  for (int i = 0; i < 1000; ++i)
    terms.push_back({std::ldexp(uniform(random), -26), std::ldexp(uniform(random), -26)});
  return terms;
}

TEST(GemmExact, CompensatedSumsNextToAMidpoint) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::vector<oracle::Term> terms = lossy_terms(seed);
    for (const float v : to_midpoint(terms)) terms.push_back({v, 1.0});
    terms.push_back({-0x1p-100, 1.0});
    const float below = oracle::exact<float>(terms);
    expect_settled(terms);
    terms.back().a = 0x1p-100;
    ASSERT_NE(oracle::exact<float>(terms), below);
    expect_settled(terms);
  }
}

}  // namespace
}  // namespace assay::gemm_exact_test
