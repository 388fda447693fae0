// LRN against MPFR.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::lrn_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(LRN, AgainstMpfr) {
  const Tensor x = random_tensor({2, 5, 3}, -2, 2, 1);
  const Attributes a{{"size", std::int64_t{4}}, {"alpha", 0.5F}, {"beta", 0.75F}, {"bias", 1.25F}};
  const Tensor y = run_one({"LRN", {x}, a});
  mpfr_t s, v;
  mpfr_inits2(300, s, v, nullptr);
  for (int i = 0; i < 30; ++i) {
    const int p = i % 3, c = i / 3 % 5, n = i / 15;
    mpfr_set_ui(s, 0, MPFR_RNDN);
    for (int k = std::max(0, c - 1); k <= std::min(4, c + 2);
         ++k) {  // size 4: one below, two above
      mpfr_set_d(v, x.data<float>()[static_cast<std::size_t>((n * 5 + k) * 3 + p)], MPFR_RNDN);
      mpfr_sqr(v, v, MPFR_RNDN);
      mpfr_add(s, s, v, MPFR_RNDN);
    }
    mpfr_mul_d(s, s, 0.5 / 4, MPFR_RNDN);
    mpfr_add_d(s, s, 1.25, MPFR_RNDN);
    mpfr_set_d(v, -0.75, MPFR_RNDN);
    mpfr_pow(s, s, v, MPFR_RNDN);
    mpfr_mul_d(s, s, x.data<float>()[static_cast<std::size_t>(i)], MPFR_RNDN);
    EXPECT_EQ(y.data<float>()[static_cast<std::size_t>(i)], mpfr_get_flt(s, MPFR_RNDN)) << i;
  }
  mpfr_clears(s, v, nullptr);
  EXPECT_NE(error_of([&] { run_one({"LRN", {x}}); }).find("size"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::lrn_test
