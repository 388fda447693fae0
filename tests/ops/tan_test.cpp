// Tan: against MPFR.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::tan_test {
namespace {

TEST(Tan, AgainstMpfr) {
  FunctionCase c{"Tan", [](mpfr_t y, const mpfr_t x) { mpfr_tan(y, x, MPFR_RNDN); }, -1.5F, 1.5F};
  c.monotone_radius = false;
  check_function(c);
}

TEST(Tan, Literals) {
  EXPECT_EQ(at("Tan", {0.0F})[0], 0.0F);
  expect_canonical_nan(at("Tan", {kInf})[0]);
}

}  // namespace
}  // namespace assay::test::tan_test
