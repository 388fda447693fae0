// Add, Sub, Mul, Div: literals, broadcasting of both kinds, integers, special values, radii.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::arithmetic_test {
namespace {

using Floats = std::vector<float>;

TEST(Arithmetic, Literals) {
  const Tensor a = tensor({3}, {1.0F, -2.5F, 8.0F}), b = tensor({3}, {0.5F, 4.0F, -2.0F});
  EXPECT_EQ(values(run_one({"Add", {a, b}})), (Floats{1.5F, 1.5F, 6.0F}));
  EXPECT_EQ(values(run_one({"Sub", {a, b}})), (Floats{0.5F, -6.5F, 10.0F}));
  EXPECT_EQ(values(run_one({"Mul", {a, b}})), (Floats{0.5F, -10.0F, -16.0F}));
  EXPECT_EQ(values(run_one({"Div", {a, b}})), (Floats{2.0F, -0.625F, -4.0F}));
}

TEST(Arithmetic, NumpyBroadcastOnBothSides) {
  const Tensor a = tensor({2, 1}, {1, 2}), b = tensor({3}, {10, 20, 30});
  const Tensor y = run_one({"Add", {a, b}});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(values(y), (Floats{11, 21, 31, 12, 22, 32}));
}

// Public case S-05 (b): a [2,1,1] addend is one value per channel; (c): a [2] addend runs along the
// last axis.
TEST(Arithmetic, ChannelAndRowAddendsDiffer) {
  const Tensor x = tensor({1, 2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(run_one({"Add", {x, tensor({2, 1, 1}, {10, 20})}})), (Floats{11, 12, 23, 24}));
  EXPECT_EQ(values(run_one({"Add", {x, tensor({2}, {10, 20})}})), (Floats{11, 22, 13, 24}));
}

TEST(Arithmetic, BroadcastAttributesBeforeOpset7) {
  const Tensor x = tensor({1, 2, 1, 2}, {1, 2, 3, 4});
  const Attributes channel{{"broadcast", std::int64_t{1}}, {"axis", std::int64_t{1}}};
  EXPECT_EQ(values(run_one({"Add", {x, tensor({2}, {10, 20})}, channel, 6})),
            (Floats{11, 12, 23, 24}));
  const auto missing = [&] { run_one({"Add", {x, tensor({2}, {10, 20})}, {}, 6}); };
  EXPECT_NE(error_of(missing).find("broadcast = 1"), std::string::npos);
}

TEST(Arithmetic, IntegersWrapAndDivideTowardsZero) {
  const auto i8 = [](std::initializer_list<std::int8_t> v) {
    return Tensor::of<std::int8_t>({static_cast<std::int64_t>(v.size())}, v);
  };
  EXPECT_EQ(indices(run_one({"Add", {i8({127, -128}), i8({1, -1})}})),
            (std::vector<std::int64_t>{-128, 127}));
  EXPECT_EQ(indices(run_one({"Div", {i8({-7, 7, -128}), i8({2, -2, -1})}})),
            (std::vector<std::int64_t>{-3, -3, -128}));
  const auto zero = [&] { run_one({"Div", {i8({1}), i8({0})}}); };
  EXPECT_NE(error_of(zero).find("division by zero"), std::string::npos);
}

TEST(Arithmetic, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  // inf - inf gives the canonical NaN, not the processor's negative one.
  EXPECT_EQ(bits(values(run_one({"Sub", {tensor({1}, {inf}), tensor({1}, {inf})}}))[0]),
            0x7FC00000U);
  EXPECT_EQ(bits(values(run_one({"Add", {tensor({1}, {-0.0F}), tensor({1}, {-0.0F})}}))[0]),
            0x80000000U);
  EXPECT_EQ(bits(values(run_one({"Add", {tensor({1}, {1.0F}), tensor({1}, {-1.0F})}}))[0]), 0U);
  EXPECT_EQ(values(run_one({"Div", {tensor({1}, {1.0F}), tensor({1}, {-0.0F})}}))[0], -inf);
}

TEST(Arithmetic, HalfRoundsOnce) {
  // 1 + 2^-11 is the midpoint of 1 and its half neighbour: to even, 1. With 2^-24 more the sum is
  // above the midpoint.
  const Tensor one = convert(tensor({2}, {1.0F, 1.0F}), DType::float16);
  const Tensor small = convert(tensor({2}, {0x1p-11F, 0x1.004p-11F}), DType::float16);
  EXPECT_EQ(values(run_one({"Add", {one, small}})), (Floats{1.0F, 1.0009765625F}));
}

TEST(Arithmetic, ShapesThatDoNotFit) {
  const auto call = [] { run_one({"Add", {tensor({2}, {1, 2}), tensor({3}, {1, 2, 3})}}); };
  EXPECT_NE(error_of(call).find("do not broadcast"), std::string::npos);
  const auto types = [] { run_one({"Add", {tensor({1}, {1}), ints({1}, {1})}}); };
  EXPECT_NE(error_of(types).find("element types differ"), std::string::npos);
}

TEST(Arithmetic, EmptyOperands) {
  EXPECT_EQ(run_one({"Add", {tensor({0, 2}, {}), tensor({2}, {1, 2})}}).shape(), (Shape{0, 2}));
}

TEST(Arithmetic, RadiusHolds) {
  const Tensor a = random_tensor({1000}, -3, 3, 1), b = random_tensor({1000}, -3, 3, 2);
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    const double use = radius_use({type, {a, b}});
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 0.5) << type << ": one rounding reaches its radius";
  }
}

// Moving both operands of a product to the ends of their radii must stay inside the output's radius
// and use most of it.
TEST(Arithmetic, RadiusOfInputsIsPassedOn) {
  const Tensor a = tensor({1}, {3.0F}), b = tensor({1}, {-5.0F});
  const std::vector<Tensor> radii{tensor64({1}, {0.25}), tensor64({1}, {0.5})};
  const double mul = radius_of({"Mul", {a, b}}, radii).data<double>()[0];
  EXPECT_NEAR(mul, 3 * 0.5 + 5 * 0.25 + 0.125, 1e-5);  // |a| rb + |b| ra + ra rb
  const double div = radius_of({"Div", {a, b}}, radii).data<double>()[0];
  EXPECT_NEAR(div, 3.25 / 4.5 - 0.6, 1e-6);  // the farthest quotient, 3.25 / -4.5, against 3 / -5
}

}  // namespace
}  // namespace assay::test::arithmetic_test
