// Pow: MPFR, IEEE special cases, mixed types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::pow_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Pow, AgainstMpfr) {
  const Tensor x = random_tensor({3000}, 0.01F, 20, 1), e = random_tensor({3000}, -6, 6, 2);
  const Tensor y = run_one({"Pow", {x, e}});
  mpfr_t a, b;
  mpfr_inits2(300, a, b, nullptr);
  for (std::size_t i = 0; i < 3000; ++i) {
    mpfr_set_d(a, x.data<float>()[i], MPFR_RNDN);
    mpfr_set_d(b, e.data<float>()[i], MPFR_RNDN);
    mpfr_pow(a, a, b, MPFR_RNDN);
    ASSERT_EQ(y.data<float>()[i], mpfr_get_flt(a, MPFR_RNDN)) << i;
  }
  mpfr_clears(a, b, nullptr);
}

TEST(Pow, SpecialCases) {
  const Tensor y =
      run_one({"Pow", {tensor({5}, {0, 1, -2, -8, 4}), tensor({5}, {0, kInf, 3, 1.0F / 3, 0.5F})}});
  const auto v = values(y);
  EXPECT_EQ(v[0], 1.0F);
  EXPECT_EQ(v[1], 1.0F);
  EXPECT_EQ(v[2], -8.0F);
  expect_canonical_nan(v[3]);
  EXPECT_EQ(v[4], 2.0F);
}

TEST(Pow, MixedTypes) {
  EXPECT_EQ(values(run_one({"Pow", {tensor({2}, {1.5F, -2}), ints({2}, {2, 3})}})),
            (Floats{2.25F, -8}));
  EXPECT_EQ(indices(run_one({"Pow", {ints({3}, {2, -3, 10}), ints({3}, {10, 3, -1})}})),
            (Ints{1024, -27, 0}));
  EXPECT_EQ(indices(run_one({"Pow", {ints({2}, {4, 3}), tensor({2}, {0.5F, 2})}})), (Ints{2, 9}));
  EXPECT_NE(error_of([] {
              run_one({"Pow", {ints({1}, {0}), ints({1}, {-1})}});
            }).find("negative power"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::pow_test
