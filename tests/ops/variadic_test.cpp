// Sum, Mean, Max, Min: one exact sum, broadcasting, bits of the chosen operand, radius.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::variadic_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Variadic, Literals) {
  const Tensor a = tensor({2, 1}, {1, -4}), b = tensor({2}, {3, 5}), c = tensor({1}, {2});
  EXPECT_EQ(values(run_one({"Sum", {a, b, c}})), (Floats{6, 8, 1, 3}));
  EXPECT_EQ(values(run_one({"Mean", {a, b, c}})), (Floats{2, 8.0F / 3, 1.0F / 3, 1}));
  EXPECT_EQ(values(run_one({"Max", {a, b, c}})), (Floats{3, 5, 3, 5}));
  EXPECT_EQ(values(run_one({"Min", {a, b, c}})), (Floats{1, 1, -4, -4}));
  EXPECT_EQ(values(run_one({"Sum", {b}})), (Floats{3, 5}));
}

// 1e8 + 1 - 1e8 is 1; float32 from left to right gives 0.
TEST(Variadic, SumIsRoundedOnce) {
  OpCall call{"Sum", {tensor({1}, {1e8F}), tensor({1}, {1}), tensor({1}, {-1e8F})}};
  EXPECT_EQ(values(run_one(call))[0], 1.0F);
  call.precision = Precision::f32;
  EXPECT_EQ(values(run_one(call))[0], 0.0F);
}

TEST(Variadic, SignsOfZeroAndNaN) {
  const Tensor minus = tensor({1}, {-0.0F});
  EXPECT_EQ(bits(values(run_one({"Sum", {minus, minus}}))[0]), 0x80000000U);
  EXPECT_EQ(bits(values(run_one({"Sum", {minus, tensor({1}, {0})}}))[0]), 0U);
  EXPECT_TRUE(
      std::isnan(values(run_one({"Max", {tensor({1}, {1}), tensor({1}, {std::nanf("")})}}))[0]));
}

TEST(Variadic, IntegersForMaxOnly) {
  EXPECT_EQ(indices(run_one({"Max", {ints({2}, {1, 7}), ints({2}, {4, 2})}})), (Ints{4, 7}));
  EXPECT_NE(error_of([] { run_one({"Sum", {ints({1}, {1})}}); }).find("int64"), std::string::npos);
}

TEST(Variadic, RadiusHolds) {
  std::vector<Tensor> in;
  for (unsigned i = 0; i < 9; ++i) in.push_back(random_tensor({500}, -1, 1, i + 1));
  for (const char* type : {"Sum", "Mean"}) {
    const double use = radius_use({type, in});
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 1.0 / 200) << type;
  }
}

}  // namespace
}  // namespace assay::test::variadic_test
