// Transpose: permutations, element sizes, bits of NaNs, errors.
#include <gtest/gtest.h>

#include <bit>

#include "tests/support/op_call.h"

namespace assay::test::transpose_test {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(Transpose, ReversesByDefault) {
  const Tensor y = run_one({"Transpose", {tensor({2, 3}, {1, 2, 3, 4, 5, 6})}});
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, PermutesThreeAxes) {
  const Tensor x = ints({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = run_one({"Transpose", {x}, {{"perm", Ints{2, 0, 1}}}});
  EXPECT_EQ(y.shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(indices(y), (Ints{1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, EveryElementSize) {
  for (const DType t :
       {DType::boolean, DType::uint8, DType::float16, DType::int32, DType::float64, DType::int64}) {
    const Tensor x = convert(ints({2, 2}, {0, 1, 0, 1}), t);
    EXPECT_EQ(to_doubles(run_one({"Transpose", {x}})), (std::vector<double>{0, 0, 1, 1}))
        << to_string(t);
  }
}

TEST(Transpose, KeepsTheBitsOfNaNs) {
  Tensor x(DType::float32, {2, 1});
  x.mutable_data<float>()[0] = std::bit_cast<float>(0xFFC12345U);
  x.mutable_data<float>()[1] = -0.0F;
  const Tensor y = run_one({"Transpose", {x}});
  EXPECT_EQ(bits(y.data<float>()[0]), 0xFFC12345U);
  EXPECT_EQ(bits(y.data<float>()[1]), 0x80000000U);
}

TEST(Transpose, EmptyAndScalar) {
  EXPECT_EQ(run_one({"Transpose", {Tensor::zeros(DType::float32, {0, 3})}}).shape(), (Shape{3, 0}));
  EXPECT_EQ(values(run_one({"Transpose", {tensor({}, {7})}})), (std::vector<float>{7}));
}

TEST(Transpose, NotAPermutation) {
  for (const Ints& perm : {Ints{0, 0}, Ints{0}, Ints{0, 2}, Ints{-1, 0}}) {
    const auto call = [&] { run_one({"Transpose", {tensor({1, 2}, {1, 2})}, {{"perm", perm}}}); };
    EXPECT_NE(error_of(call).find("permutation"), std::string::npos);
  }
}

TEST(Transpose, MovesRadii) {
  const Tensor radius =
      radius_of({"Transpose", {tensor({2, 2}, {1, 2, 3, 4})}}, {tensor64({2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(to_doubles(radius), (std::vector<double>{1, 3, 2, 4}));
}

}  // namespace
}  // namespace assay::test::transpose_test
