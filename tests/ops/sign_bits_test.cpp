// Abs, Neg, Sign: sign bits, integers at their ends, NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::sign_bits_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Abs, Literals) {
  EXPECT_EQ(at("Abs", {-2, 3, -kInf}), (Floats{2, 3, kInf}));
  EXPECT_EQ(bits(at("Abs", {-0.0F})[0]), 0U);
  EXPECT_EQ(indices(run_one({"Abs", {Tensor::of<std::int8_t>({2}, {-128, -5})}})), (Ints{-128, 5}));
  EXPECT_EQ(values(run_one({"Abs", {convert(tensor({1}, {-2}), DType::float16)}})), (Floats{2}));
}

TEST(Neg, Literals) {
  EXPECT_EQ(at("Neg", {-2, 3}), (Floats{2, -3}));
  EXPECT_EQ(bits(at("Neg", {0.0F})[0]), 0x80000000U);
  EXPECT_EQ(indices(run_one({"Neg", {ints({2}, {7, -9})}})), (Ints{-7, 9}));
}

TEST(Sign, Literals) {
  EXPECT_EQ(at("Sign", {-2, 0, 3, kInf}), (Floats{-1, 0, 1, 1}));
  EXPECT_EQ(bits(at("Sign", {-0.0F})[0]), 0U);
  expect_canonical_nan(at("Sign", {std::nanf("0x77")})[0]);
  EXPECT_EQ(indices(run_one({"Sign", {ints({3}, {-7, 0, 9})}})), (Ints{-1, 0, 1}));
}

TEST(Sign, RadiusJumpsAtZero) {
  const Tensor r = radius_of({"Sign", {tensor({2}, {0.1F, 5})}}, {tensor64({2}, {0.2, 0.2})});
  EXPECT_EQ(to_doubles(r), (std::vector<double>{2, 0}));
}

}  // namespace
}  // namespace assay::test::sign_bits_test
