// Relu: hand-computed values, signed zeros, NaN bits, integers.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::relu_test {
namespace {

TEST(Relu, ClampsBelowAtZero) {
  const Tensor y = run_one({"Relu", {tensor({5}, {-2.0F, -0.0F, 0.0F, 0.5F, 7.0F})}});
  const auto v = values(y);
  EXPECT_EQ(v, (std::vector<float>{0.0F, 0.0F, 0.0F, 0.5F, 7.0F}));
  for (const float x : v) EXPECT_EQ(bits(x) >> 31, 0U) << "no result is -0";
}

TEST(Relu, PassesNaNWithItsBits) {
  const float payload = std::bit_cast<float>(0xFFC12345U);
  EXPECT_EQ(bits(values(run_one({"Relu", {tensor({1}, {payload})}}))[0]), 0xFFC12345U);
}

TEST(Relu, PassesInfinityAndTakesIntegersAndDouble) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values(run_one({"Relu", {tensor({2}, {inf, -inf})}})), (std::vector<float>{inf, 0.0F}));
  EXPECT_EQ(indices(run_one({"Relu", {ints({2}, {-3, 4})}})), (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(run_one({"Relu", {tensor64({1}, {-0.5})}}).data<double>()[0], 0.0);
}

TEST(Relu, EmptyTensorStaysEmpty) {
  EXPECT_EQ(run_one({"Relu", {tensor({2, 0, 3}, {})}}).shape(), (Shape{2, 0, 3}));
}

TEST(Relu, RefusesBool) {
  const Tensor b = Tensor::of<bool>({1}, {true});
  EXPECT_NE(error_of([&] { run_one({"Relu", {b}}); }).find("bool"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::relu_test
