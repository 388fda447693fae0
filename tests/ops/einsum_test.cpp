// Einsum: products, traces, ellipsis, implicit output, exact sums.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::einsum_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

OpCall einsum(const std::string& equation, std::vector<Tensor> inputs) {
  return {"Einsum", std::move(inputs), {{"equation", equation}}};
}

TEST(Einsum, CommonForms) {
  const Tensor a = tensor({2, 2}, {1, 2, 3, 4}), b = tensor({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(values(run_one(einsum("ij,jk->ik", {a, b}))), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run_one(einsum("ij,jk", {a, b}))), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run_one(einsum("ij->ji", {a}))), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(values(run_one(einsum("ii->", {a}))), (Floats{5}));
  EXPECT_EQ(values(run_one(einsum("ii -> i", {a}))), (Floats{1, 4}));
  EXPECT_EQ(values(run_one(einsum("...j->...", {a}))), (Floats{3, 7}));
  EXPECT_EQ(values(run_one(einsum(
                "i,i,i->i", {tensor({2}, {1, 2}), tensor({2}, {3, 4}), tensor({2}, {5, 6})}))),
            (Floats{15, 48}));
  EXPECT_EQ(indices(run_one(einsum("i,i->", {ints({2}, {3, -4}), ints({2}, {5, 6})}))), (Ints{-9}));
}

TEST(Einsum, BatchedEqualsMatMul) {
  const Tensor a = random_tensor({3, 4, 5}, -1, 1, 1), b = random_tensor({3, 5, 2}, -1, 1, 2);
  EXPECT_TRUE(same_bits(run_one(einsum("bij,bjk->bik", {a, b})), run_one({"MatMul", {a, b}})));
  EXPECT_TRUE(
      same_bits(run_one(einsum("...ij,...jk->...ik", {a, b})), run_one({"MatMul", {a, b}})));
}

TEST(Einsum, Errors) {
  const Tensor a = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_NE(error_of([&] { run_one(einsum("ijk->i", {a})); }).find("letters"), std::string::npos);
  EXPECT_NE(error_of([&] { run_one(einsum("ij,jk->ik", {a})); }).find("terms than operands"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              run_one(einsum("ij,jk->ik", {a, tensor({3, 1}, {1, 1, 1})}));
            }).find("differ in size"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::einsum_test
