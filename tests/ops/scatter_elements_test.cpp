// ScatterElements and Scatter: plain copies, reductions, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::scatter_elements_test {
namespace {

using Floats = std::vector<float>;

Tensor scatter(const char* reduction, Tensor indices, Tensor updates) {
  return run_one({"ScatterElements",
                  {tensor({3}, {1, 2, 3}), std::move(indices), std::move(updates)},
                  {{"reduction", std::string(reduction)}},
                  18});
}

TEST(ScatterElements, CopiesAndReductions) {
  const Tensor at = ints({2}, {0, -1}), v = tensor({2}, {5, 2});
  EXPECT_EQ(values(scatter("none", at, v)), (Floats{5, 2, 2}));
  EXPECT_EQ(values(scatter("add", at, v)), (Floats{6, 2, 5}));
  EXPECT_EQ(values(scatter("mul", at, v)), (Floats{5, 2, 6}));
  EXPECT_EQ(values(scatter("max", at, v)), (Floats{5, 2, 3}));
  EXPECT_EQ(values(scatter("min", at, v)), (Floats{1, 2, 2}));
}

TEST(ScatterElements, SamePlaceTwice) {
  const Tensor at = ints({2}, {1, 1}), v = tensor({2}, {5, 7});
  EXPECT_EQ(values(scatter("none", at, v)), (Floats{1, 7, 3}));
  EXPECT_EQ(values(scatter("add", at, v)), (Floats{1, 14, 3}));
}

TEST(ScatterElements, InputStaysAsItWas) {
  const Tensor x = tensor({1}, {1});
  run_one({"ScatterElements", {x, ints({1}, {0}), tensor({1}, {9})}});
  EXPECT_EQ(values(x), (Floats{1}));
}

TEST(ScatterElements, IntegersWrap) {
  const Tensor x = convert(ints({1}, {250}), DType::uint8);
  const Tensor y = run_one({"ScatterElements",
                            {x, ints({1}, {0}), convert(ints({1}, {10}), DType::uint8)},
                            {{"reduction", std::string("add")}},
                            16});
  EXPECT_EQ(indices(y), (std::vector<std::int64_t>{4}));
}

TEST(ScatterElements, Errors) {
  EXPECT_NE(
      error_of([] { scatter("none", ints({1}, {3}), tensor({1}, {0})); }).find("out of range"),
      std::string::npos);
  EXPECT_NE(error_of([] {
              scatter("none", ints({1}, {0}), tensor({2}, {0, 0}));
            }).find("fit"),
            std::string::npos);
  EXPECT_NE(error_of([] { scatter("mean", ints({1}, {0}), tensor({1}, {0})); }).find("mean"),
            std::string::npos);
}

TEST(Scatter, OldName) {
  EXPECT_EQ(
      values(run_one({"Scatter", {tensor({2}, {1, 2}), ints({1}, {1}), tensor({1}, {8})}, {}, 9})),
      (Floats{1, 8}));
}

}  // namespace
}  // namespace assay::test::scatter_elements_test
