// ai.assay Silu and HardSwish: staged and single roundings, radius.
#include <gtest/gtest.h>

#include "tests/support/function_check.h"

namespace assay::test::silu_test {
namespace {

OpCall own(const std::string& type, Tensor x, const std::string& rounding) {
  OpCall call{type, {std::move(x)}, {{"rounding", rounding}}};
  call.domain = "ai.assay";
  return call;
}

TEST(Silu, SingleAgainstMpfr) {
  const Tensor x = random_tensor({2000}, -10, 10, 41);
  const Tensor y = run_one(own("Silu", x, "single"));
  mpfr_t v;
  mpfr_init2(v, 300);
  for (std::size_t i = 0; i < 2000; ++i) {
    mpfr_set_d(v, -double{x.data<float>()[i]}, MPFR_RNDN);
    mpfr_exp(v, v, MPFR_RNDN);
    mpfr_add_ui(v, v, 1, MPFR_RNDN);
    mpfr_d_div(v, x.data<float>()[i], v, MPFR_RNDN);
    ASSERT_EQ(y.data<float>()[i], mpfr_get_flt(v, MPFR_RNDN));
  }
  mpfr_clear(v);
}

TEST(Silu, StagedIsTwoNodes) {
  const Tensor x = random_tensor({500}, -10, 10, 42);
  EXPECT_TRUE(same_bits(run_one(own("Silu", x, "staged")),
                        run_one({"Mul", {x, run_one({"Sigmoid", {x}})}})));
}

TEST(OwnHardSwish, StagedIsTwoNodesAndSingleIsOneRounding) {
  const Tensor x = random_tensor({500}, -5, 5, 43);
  const Tensor gate = run_one({"HardSigmoid", {x}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}}});
  EXPECT_TRUE(same_bits(run_one(own("HardSwish", x, "staged")), run_one({"Mul", {x, gate}})));
  const Tensor y = run_one(own("HardSwish", x, "single"));
  for (std::size_t i = 0; i < 500; ++i) {
    const long double v = x.data<float>()[i];
    const long double g =
        std::min(1.0L, std::max(0.0L, v * static_cast<long double>(1.0F / 6.0F) + 0.5L));
    ASSERT_NEAR(y.data<float>()[i], static_cast<double>(v * g),
                2.4e-7 * std::abs(static_cast<double>(v * g)));
  }
}

TEST(Silu, RadiusHolds) {
  for (const char* type : {"Silu", "HardSwish"}) {
    const double use = radius_use(own(type, random_tensor({2000}, -6, 6, 44), "staged"));
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 1.0 / 200) << type;
  }
}

}  // namespace
}  // namespace assay::test::silu_test
