// MatMul: numpy's shapes (public case S-34 for empty ones), integers, exact oracle, radius.
#include <gtest/gtest.h>

#include "runtime/numeric/exact_accumulator.h"
#include "tests/support/op_call.h"

namespace assay::test::matmul_test {
namespace {

using Floats = std::vector<float>;

TEST(MatMul, VectorsAndMatrices) {
  const Tensor m = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), v3 = tensor({3}, {1, 10, 100}),
               v2 = tensor({2}, {1, 10});
  const Tensor mv = run_one({"MatMul", {m, v3}});
  EXPECT_EQ(mv.shape(), (Shape{2}));
  EXPECT_EQ(values(mv), (Floats{321, 654}));
  EXPECT_EQ(values(run_one({"MatMul", {v2, m}})), (Floats{41, 52, 63}));
  const Tensor dot = run_one({"MatMul", {v3, v3}});
  EXPECT_EQ(dot.shape(), Shape{});
  EXPECT_EQ(values(dot), (Floats{10101}));
}

TEST(MatMul, LeadingAxesBroadcast) {
  const Tensor a = random_tensor({2, 1, 3, 4}, -1, 1, 1), b = random_tensor({5, 4, 2}, -1, 1, 2);
  for (const bool constant : {false, true}) {
    OpCall call{"MatMul", {a, b}};
    call.constant_weights = constant;
    const Tensor y = run_one(call);
    ASSERT_EQ(y.shape(), (Shape{2, 5, 3, 2}));
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      const std::int64_t n = i % 2, m = i / 2 % 3, p = i / 6 % 5, q = i / 30;
      FloatAccumulator sum;
      for (std::int64_t k = 0; k < 4; ++k)
        sum.add_product(a.data<float>()[static_cast<std::size_t>((q * 3 + m) * 4 + k)],
                        b.data<float>()[static_cast<std::size_t>((p * 4 + k) * 2 + n)]);
      ASSERT_EQ(bits(y.data<float>()[static_cast<std::size_t>(i)]), bits(sum.round_to_float()));
    }
  }
}

TEST(MatMul, OneMatrixOnTheRight) {
  const Tensor a = random_tensor({2, 3, 4}, -1, 1, 1), b = random_tensor({4, 2}, -1, 1, 2);
  OpCall call{"MatMul", {a, b}};
  const Tensor y = run_one(call);
  call.constant_weights = true;
  EXPECT_TRUE(same_bits(y, run_one(call)));
  EXPECT_TRUE(same_bits(y.rows(1, 2).reshaped({3, 2}),
                        run_one({"MatMul", {a.rows(1, 2).reshaped({3, 4}), b}})));
}

TEST(MatMul, EmptyAndIntegers) {
  EXPECT_EQ(run_one({"MatMul", {tensor({1, 0, 4}, {}), tensor({4, 3}, Floats(12, 1.0F))}}).shape(),
            (Shape{1, 0, 3}));
  EXPECT_EQ(values(run_one({"MatMul", {tensor({1, 0}, {}), tensor({0, 1}, {})}})), (Floats{0}));
  EXPECT_EQ(indices(run_one({"MatMul", {ints({1, 2}, {3, 4}), ints({2, 1}, {5, -6})}})),
            (std::vector<std::int64_t>{-9}));
}

TEST(MatMul, Errors) {
  const auto call = [] {
    run_one({"MatMul", {tensor({1, 2}, {1, 2}), tensor({3, 1}, {1, 2, 3})}});
  };
  EXPECT_NE(error_of(call).find("do not fit"), std::string::npos);
  const auto scalar = [] { run_one({"MatMul", {tensor({}, {1}), tensor({1}, {1})}}); };
  EXPECT_NE(error_of(scalar).find("do not fit"), std::string::npos);
}

TEST(MatMul, RadiusHolds) {
  const OpCall call{"MatMul",
                    {random_tensor({2, 5, 200}, -1, 1, 1), random_tensor({200, 10}, -1, 1, 2)}};
  const double use = radius_use(call);
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

}  // namespace
}  // namespace assay::test::matmul_test
