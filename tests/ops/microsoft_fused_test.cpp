// com.microsoft FusedConv, FusedGemm, FusedMatMul.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::microsoft_fused_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

OpCall microsoft(const std::string& type, std::vector<Tensor> inputs, Attributes a) {
  OpCall call{type, std::move(inputs), std::move(a)};
  call.domain = "com.microsoft";
  return call;
}

TEST(MicrosoftFused, Conv) {
  const Tensor x = tensor({1, 2, 1, 1}, {1, 2}), w = tensor({2, 2, 1, 1}, {1, 1, -1, -1}),
               b = tensor({2}, {1, 1}), z = tensor({1, 2, 1, 1}, {10, -10});
  EXPECT_EQ(
      values(run_one(microsoft("FusedConv", {x, w, b, z}, {{"activation", std::string("Relu")}}))),
      (Floats{14, 0}));
  EXPECT_EQ(values(run_one(microsoft(
                "FusedConv", {x, w, b},
                {{"activation", std::string("Clip")}, {"activation_params", Floats{-1, 3}}}))),
            (Floats{3, -1}));
  EXPECT_EQ(values(run_one(microsoft(
                "FusedConv", {x, w},
                {{"activation", std::string("LeakyRelu")}, {"activation_params", Floats{0.5F}}}))),
            (Floats{3, -1.5F}));
  EXPECT_EQ(values(run_one(microsoft("FusedConv", {x, w},
                                     {{"activation", std::string("HardSigmoid")},
                                      {"activation_params", Floats{0.25F, 0.5F}}}))),
            (Floats{1, 0}));
  EXPECT_NE(error_of([&] {
              run_one(microsoft("FusedConv", {x, w}, {{"activation", std::string("Foo")}}));
            }).find("'Foo'"),
            std::string::npos);
}

TEST(MicrosoftFused, Gemm) {
  const Tensor a = tensor({1, 2}, {1, 2}), b = tensor({2, 1}, {-3, 1});
  EXPECT_EQ(values(run_one(microsoft(
                "FusedGemm", {a, b, tensor({1}, {0})},
                {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.25F}}))),
            (Floats{-0.25F}));
}

TEST(MicrosoftFused, MatMulTransposesAndScale) {
  const Tensor a = tensor({2, 1}, {1, 2}), b = tensor({1, 2}, {3, 4});
  EXPECT_EQ(values(run_one(microsoft(
                "FusedMatMul", {a, b},
                {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.5F}}))),
            (Floats{5.5F}));
  // transBatchA: [2, 3, 4] is read as [3, 2, 4].
  const Tensor c = random_tensor({2, 3, 4}, -1, 1, 1), d = random_tensor({3, 4, 1}, -1, 1, 2);
  const Tensor y = run_one(microsoft("FusedMatMul", {c, d}, {{"transBatchA", std::int64_t{1}}}));
  ASSERT_EQ(y.shape(), (Shape{3, 2, 1}));
  double sum = 0;  // products of two floats are exact in double, four of them nearly
  for (std::size_t k = 0; k < 4; ++k)
    sum += double{c.data<float>()[(1 * 3 + 2) * 4 + k]} * d.data<float>()[2 * 4 + k];
  EXPECT_EQ(y.data<float>()[2 * 2 + 1], static_cast<float>(sum));
}

}  // namespace
}  // namespace assay::test::microsoft_fused_test
