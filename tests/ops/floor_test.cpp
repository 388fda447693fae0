// Floor: against MPFR, and its special values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::floor_test {
namespace {

TEST(Floor, AgainstMpfr) {
  check_function({"Floor", [](mpfr_t y, const mpfr_t x) { mpfr_floor(y, x); }, -20.0F, 20.0F});
}

TEST(Floor, Literals) {
  EXPECT_EQ(at("Floor", {-1.5F, 1.5F, 2.0F}), (std::vector<float>{-2.0F, 1.0F, 2.0F}));
  EXPECT_EQ(bits(at("Floor", {-0.0F})[0]), 0x80000000U);
  expect_canonical_nan(at("Floor", {std::nanf("0x123")})[0]);
}

TEST(Floor, RefusesIntegersAndTakesNoElements) {
  EXPECT_NE(error_of([] {
              run_one({"Floor", {ints({1}, {1})}, {}, 20});
            }).find("int64"),
            std::string::npos);
  EXPECT_EQ(run_one({"Floor", {tensor({0, 3}, {})}, {}, 20}).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace assay::test::floor_test
