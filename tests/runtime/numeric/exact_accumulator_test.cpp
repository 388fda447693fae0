// The long accumulator against GMP-exact sums (MPFR at 4600 bits) and hand-computed roundings.

#include "runtime/numeric/exact_accumulator.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <random>
#include <vector>

namespace assay::exact_accumulator_test {
namespace {

constexpr mpfr_prec_t kExactBits = 4600;

class ExactSum {
 public:
  ExactSum() {
    mpfr_init2(sum_, kExactBits);
    mpfr_init2(term_, kExactBits);
    mpfr_set_zero(sum_, 1);
  }
  ~ExactSum() {
    mpfr_clear(sum_);
    mpfr_clear(term_);
  }
  ExactSum(const ExactSum&) = delete;
  ExactSum& operator=(const ExactSum&) = delete;
  void add_product(double a, double b) {
    mpfr_set_d(term_, a, MPFR_RNDN);
    ASSERT_EQ(mpfr_mul_d(term_, term_, b, MPFR_RNDN), 0);
    ASSERT_EQ(mpfr_add(sum_, sum_, term_, MPFR_RNDN), 0);
  }
  double to_double() const { return mpfr_get_d(sum_, MPFR_RNDN); }
  float to_float() const { return mpfr_get_flt(sum_, MPFR_RNDN); }
  float quotient_to_float(long divisor) {
    // The quotient is rounded to odd at 4600 bits, so the second rounding is innocent.
    const int inexact = mpfr_div_si(term_, sum_, divisor, MPFR_RNDZ);
    if (inexact == 0) return mpfr_get_flt(term_, MPFR_RNDN);
    if (mpfr_sgn(sum_) > 0) {
      mpfr_nextabove(term_);
    } else {
      mpfr_nextbelow(term_);
    }
    return mpfr_get_flt(term_, MPFR_RNDN);
  }
  int sign() const { return mpfr_sgn(sum_) > 0 ? 1 : (mpfr_sgn(sum_) < 0 ? -1 : 0); }

 private:
  mpfr_t sum_;
  mpfr_t term_;
};

float random_float(std::mt19937_64& rng) {
  for (;;) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
    if (std::isfinite(value)) return value;
  }
}

double random_double(std::mt19937_64& rng) {
  for (;;) {
    const double value = std::bit_cast<double>(rng());
    if (std::isfinite(value)) return value;
  }
}

TEST(ExactAccumulator, FloatProductsMatchExactSums) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 2000; ++round) {
    FloatAccumulator sum;
    ExactSum expected;
    const int n = 1 + static_cast<int>(rng() % 40);
    std::vector<std::pair<float, float>> terms;
    for (int i = 0; i < n; ++i) terms.emplace_back(random_float(rng), random_float(rng));
    // Cancelling pairs leave only the small products.
    for (int i = 0; i < n / 2; ++i) terms.emplace_back(-terms[i].first, terms[i].second);
    for (const auto& [a, b] : terms) {
      sum.add_product(a, b);
      expected.add_product(a, b);
    }
    ASSERT_EQ(sum.sign(), expected.sign());
    ASSERT_EQ(sum.round_to_float(), expected.to_float());
    ASSERT_EQ(sum.round_to_double(), expected.to_double());
    const std::int64_t divisor = 1 + static_cast<std::int64_t>(rng() >> (24 + rng() % 40));
    ASSERT_EQ(sum.round_quotient_to_float(divisor), expected.quotient_to_float(divisor));
  }
}

TEST(ExactAccumulator, DoubleProductsMatchExactSums) {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 500; ++round) {
    DoubleAccumulator sum;
    ExactSum expected;
    for (int i = 0; i < 12; ++i) {
      const double a = random_double(rng);
      const double b = random_double(rng);
      sum.add_product(a, b);
      expected.add_product(a, b);
      if (i % 3 == 0) {
        sum.subtract_product(b, a);
        expected.add_product(-a, b);
      }
    }
    ASSERT_EQ(sum.sign(), expected.sign());
    ASSERT_EQ(sum.round_to_double(), expected.to_double());
  }
}

TEST(ExactAccumulator, OrderDoesNotMatter) {
  std::mt19937_64 rng(3);
  std::vector<float> values(1000);
  for (auto& value : values) value = random_float(rng);
  FloatAccumulator forward;
  FloatAccumulator backward;
  for (std::size_t i = 0; i < values.size(); ++i) {
    forward.add(values[i]);
    backward.add(values[values.size() - 1 - i]);
  }
  EXPECT_EQ(forward.settled_limbs(), backward.settled_limbs());
  forward.subtract(backward);
  EXPECT_TRUE(forward.is_zero());
}

TEST(ExactAccumulator, TiesGoToEven) {
  FloatAccumulator sum;
  sum.add(1.0);
  sum.add(0x1p-24);
  EXPECT_EQ(sum.round_to_float(), 1.0F);
  sum.add(0x1p-298);  // the least product of two floats decides
  EXPECT_EQ(sum.round_to_float(), 1.0F + 0x1p-23F);
  sum.subtract(0x1p-297);
  EXPECT_EQ(sum.round_to_float(), 1.0F);
  sum.add(0x1p-298);
  sum.add(0x1p-23);  // 1 + 3 * 2^-24: the upper neighbour is even
  EXPECT_EQ(sum.round_to_float(), 1.0F + 0x1p-22F);
}

TEST(ExactAccumulator, SubnormalsAndOverflow) {
  FloatAccumulator sum;
  sum.add(0x1p-150);
  EXPECT_EQ(sum.round_to_float(), 0.0F);
  sum.add(0x1p-200);
  EXPECT_EQ(sum.round_to_float(), 0x1p-149F);
  FloatAccumulator big;
  big.add(std::numeric_limits<float>::max());
  big.add(0x1p103);  // exactly the overflow threshold: to even is infinity
  EXPECT_EQ(big.round_to_float(), std::numeric_limits<float>::infinity());
  big.subtract(0x1p-149);
  EXPECT_EQ(big.round_to_float(), std::numeric_limits<float>::max());
  FloatAccumulator half;
  half.add(-65520.0);
  EXPECT_EQ(half.round_to_half().bits, 0xFC00);
  half.add(0x1p-100);
  EXPECT_EQ(half.round_to_half().bits, 0xFBFF);
}

TEST(ExactAccumulator, QuotientTies) {
  // (2^24 + 1) / 2 * 2^-23 has 25 bits; thirds never tie.
  FloatAccumulator sum;
  sum.add(1.0);
  sum.add(1.0 + 0x1p-23);
  EXPECT_EQ(sum.round_quotient_to_float(2), 1.0F);
  sum.clear();
  sum.add(1.0 + 0x1p-23);
  sum.add(1.0 + 0x1p-22);
  EXPECT_EQ(sum.round_quotient_to_float(2), 1.0F + 0x1p-22F);
  sum.clear();
  sum.add(3.0);
  sum.add(3 * 0x1p-24);
  EXPECT_EQ(sum.round_quotient_to_float(3), 1.0F);
  sum.add(0x1p-290);
  EXPECT_EQ(sum.round_quotient_to_float(3), 1.0F + 0x1p-23F);
}

}  // namespace
}  // namespace assay::exact_accumulator_test
